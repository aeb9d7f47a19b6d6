"""Build a corruption-robustness benchmark for vision-language models and measure models on it.

Sources become a pool of candidate items, every image is corrupted, models are asked; the rules of the run's
benchmark say which models read which items and what comes of it. Everything lands in results/<name>/, where
<name> is the configuration's. Each stage below says what it reads and makes.
"""

import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.25")

# The checkout's own package comes before an installed one, here as in every job.
sys.path.insert(0, str(Path(workflow.basedir)))

if not workflow.configfiles:

    configfile: "config/config.yaml"


include: "rules/run.smk"


pathvars:
    results=f"results/{settings.name}",
    logs=f"logs/{settings.name}",
    benchmarks=f"logs/{settings.name}/benchmarks",


wildcard_constraints:
    source="|".join(run.sources),
    corruption="|".join(RECIPES),
    images="corrupted|benchmark",
    model="|".join(run.models),
    batch="|".join(BATCHES),


include: "rules/demo.smk"
include: "rules/sources.smk"
include: "rules/pool.smk"
include: "rules/corrupt.smk"
include: "rules/infer.smk"
include: f"rules/{SLICE}.smk"


LACKING = [name for name in ("SUBSETS", "BENCHMARK", "MEASURED", "OUTPUTS") if name not in globals()]
if LACKING:
    raise WorkflowError(
        f"rules/{SLICE}.smk lacks {', '.join(LACKING)}; define it (CONTRIBUTING.md, A new benchmark)."
    )


# Constrains the rules above as well; which subsets there are, the benchmark says.
wildcard_constraints:
    subset="|".join(SUBSETS),


include: "rules/contact_sheets.smk"
include: "rules/outputs.smk"


rule all:
    default_target: True
    input:
        rules.report.input,
