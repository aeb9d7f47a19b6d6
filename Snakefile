"""Build a corruption-robustness benchmark for vision-language models and measure models on it.

Sources become a pool of candidate items, their images are corrupted, and models answer the items. The rules of
the benchmark decide which models are evaluated on which items, and what is computed from their predictions.
All outputs are written to results/<name>/, where <name> is the configuration's. Each rule file states its inputs
and outputs at the top.
"""

import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.25")

# The checkout's package takes precedence over an installed one, here as in every job.
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
    part="|".join(PARTS),


# Else a folder of a model that another run trained is a folder like any other.
if demo:

    include: "rules/demo.smk"


include: "rules/sources.smk"
include: "rules/pool.smk"
include: "rules/corrupt.smk"
include: "rules/infer.smk"
include: "rules/answer.smk"
include: f"rules/{PACKAGE}.smk"


MISSING = [name for name in ("SUBSETS", "BENCHMARK", "MEASURED", "OUTPUTS") if name not in globals()]
if MISSING:
    raise WorkflowError(
        f"rules/{PACKAGE}.smk does not define {', '.join(MISSING)}; CONTRIBUTING.md describes it (A new benchmark)."
    )


# Also constrains the rules above. The benchmark defines the subsets.
wildcard_constraints:
    subset="|".join(SUBSETS),


include: "rules/contact_sheets.smk"
include: "rules/configuration.smk"
include: "rules/outputs.smk"
include: "rules/provenance.smk"


rule fetch_models:
    """Download all models and encoders of the run that are on the Hub, for jobs without a network."""
    input:
        FETCHED,
    localrule: True


rule all:
    default_target: True
    input:
        rules.report.input,


# Accepting files as they are gives them a record.
if workflow.is_main_process and not {"--touch", "-t"} & set(sys.argv):
    check_records()
