"""Build a corruption-robustness benchmark for vision-language models and measure models on it.

Sources become a pool of candidate items, their images are corrupted, and models answer the items. The rules of
the benchmark decide which models are evaluated on which items, and what is computed from their predictions.
All outputs are written to results/<name>/, where <name> is the configuration's, but for what runs share
(results/README.md). Each rule file states its inputs and outputs at the top.
"""

import sys
import warnings
from pathlib import Path

from snakemake.utils import min_version

min_version("9.25")

# The package beside this file takes precedence over an installed one, here as in every job. The file may be a module
# of another workflow.
sys.path.insert(0, workflow.current_basedir.get_path_or_uri(secret_free=True))

from benchc.cluster.executor import limit_local_jobs, use_site
from benchc.config.errors import ConfigError
from benchc.config.load import load
from benchc.errors import InputError
from benchc.home import PACKAGE, find_code_elsewhere, shipped
from benchc.workflow import owners, records, run_record
from benchc.workflow.code import By, contents_of
from benchc.workflow.configuration import configuration_params, configuration_texts
from benchc.workflow.gpus import unlimited_gpus
from benchc.workflow.leftovers import remove_leftovers
from benchc.workflow.minutes import (
    corrupt_threads,
    embedding_minutes,
    items,
    megabytes,
    minutes,
    reading_minutes,
    rows,
)
from benchc.workflow.outputs import ENVIRONMENTS, output_files, output_inputs, output_params
from benchc.workflow.results_page import page_contents, recorded_outputs, recorded_page
from benchc.workflow.run import Run, one_of
from benchc.workflow.sources import local
from benchc.workflow.stage import RUN, stage, unrecorded
from benchc.workflow.stopping import Stopping

# Snakemake's default for disk_mb on a cluster, the size of the inputs, which it computes again when inputs are there.
warnings.filterwarnings("ignore", r"coroutine 'InputFiles\._predicated_size_files", RuntimeWarning)

# In another working directory, such as that of --directory, all paths but those of the code are relative to it.
try:
    code_elsewhere = find_code_elsewhere(Path.cwd())
except InputError as error:
    raise WorkflowError(str(error))
if code_elsewhere and workflow.modifier.is_main_snakefile():
    # Snakemake removes the variable from the environment of jobs with --sdm conda.
    shell.prefix(f"set -euo pipefail; {code_elsewhere}; ")

use_site()
if workflow.resource_settings.cores is not None and workflow.resource_settings.cores < 1:
    raise WorkflowError(
        f"--cores {workflow.resource_settings.cores}: no job could run; give a number of at least 1, or all"
    )
if "APPTAINER" in {method.name for method in workflow.deployment_settings.deployment_method}:
    raise WorkflowError(
        "--software-deployment-method apptainer: no rule has a container; envs/benchc.def builds one for all of "
        "snakemake"
    )

paths = workflow.modifier.path_modifier
if paths.prefix or paths.modifies_prefixes:
    raise WorkflowError(
        "module: prefix does not change the paths in settings; leave it out, and use --directory"
    )

if not workflow.configfiles:

    configfile: shipped("config/config.yaml", Path.cwd())


CONFIG_FILES = " ".join(str(file) for file in workflow.configfiles)

try:
    run = Run(
        load(
            {key: value for key, value in config.items() if key != "pathvars"},
            Path.cwd(),
            file=CONFIG_FILES or "config",
            merged=[str(file) for file in workflow.configfiles],
        )
    )
except (ConfigError, InputError) as error:
    raise WorkflowError(str(error))

settings, sources, images, models, bench = run.settings, run.sources, run.images, run.models, run.benchmark
for line in run.warnings():
    logger.warning(line)


pathvars:
    results=run.results,
    logs=run.logs,
    benchmarks=f"{run.logs}/benchmarks",


wildcard_constraints:
    source=one_of(sources.entries),
    corruption=one_of(images.recipes),
    images="corrupted|benchmark",
    model=one_of(models.entries),
    part=one_of(images.batches),
    subset=one_of(bench.subsets),


# Else a folder of a model that another run trained is a folder like any other.
if settings.demo:

    include: "rules/demo.smk"


include: "rules/sources.smk"
include: "rules/pool.smk"
include: "rules/corrupt.smk"
include: "rules/infer.smk"
include: "rules/answer.smk"
include: f"rules/{run.package}.smk"
include: "rules/contact_sheets.smk"
include: "rules/configuration.smk"
include: "rules/outputs.smk"
include: "rules/results_page.smk"


# The rules above then make only what is of the models that are evaluated, and tables, figures and pages.
if run.finished:

    include: "rules/evaluate.smk"


include: "rules/records.smk"


rule fetch_models:
    """Download all models and encoders of the run that are on the Hub, for jobs without a network."""
    input:
        run.fetched,
    localrule: True


rule all:
    default_target: workflow.modifier.is_main_snakefile()
    input:
        rules.report.input,
        rules.results_page.output,
