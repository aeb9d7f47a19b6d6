"""What Snakemake would run, and why: its own decision, without running a job."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from snakemake.api import SnakemakeApi
from snakemake.dag import DAG
from snakemake.exceptions import ApiError, MissingRuleException, RuleException, WorkflowError
from snakemake.jobs import Job
from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, ResourceSettings

from benchc.cluster.site import Request
from benchc.errors import InputError
from benchc.home import SNAKEFILE, shipped
from benchc.planning.param_changes import OTHER_INPUTS, param_changes
from benchc.workflow.minutes import estimates
from snakemake_logger_plugin_stages.stopped import sentences_of

NOT_MADE = "not made yet"
INTERRUPTED = "interrupted"
MADE_SINCE = "inputs that a partial run has made again since"


@dataclass(frozen=True)
class PlannedJob:
    """A job that would run. ``causes`` is empty if it runs only because jobs that make its inputs do.

    ``asked``: what it asks a cluster for; None for one that runs where Snakemake does. ``minutes``: an
    estimate of its time; None for none.
    """

    rule: str
    wildcards: Sequence[str]
    outputs: Sequence[str]
    causes: Sequence[str]
    inputs: Sequence[str] = ()
    asked: Request | None = None
    minutes: int | None = None


@dataclass(frozen=True)
class DryRun:
    """The jobs that would run, of how many in all, and whether a running or killed Snakemake locks them.

    Rules without outputs, such as `all`, only collect files, and are no jobs here.
    """

    jobs: Sequence[PlannedJob]
    total: int
    locked: bool


def dry_run(
    config: Path,
    targets: Iterable[str] = (),
    settings: Mapping[str, object] = MappingProxyType({}),
    files: Mapping[str, str] = MappingProxyType({}),
    *,
    snakefile: Path = SNAKEFILE,
) -> DryRun:
    """Return what a run with a configuration would do; an incomplete file counts as one to make again.

    ``settings`` and ``files`` are those of :func:`param_changes`.
    """
    quiet = OutputSettings(dryrun=True, log_level_override=logging.WARNING)
    try:
        with SnakemakeApi(quiet) as api:
            workflow_api = api.workflow(
                ResourceSettings(),
                ConfigSettings(configfiles=[shipped(config, Path.cwd())]),
                snakefile=snakefile,
            )
            dag_api = workflow_api.dag(DAGSettings(frozenset(targets), force_incomplete=True))
            dag_api.execute_workflow(executor="dryrun")
            # Log records hold a reason as text only; the graph is in no public attribute.
            workflow = workflow_api._workflow
            # Jobs of a dry run count as finished after it.
            needed = workflow.dag.needrun_jobs(exclude_finished=False)
            jobs = [_planned(job, workflow.dag, settings, files) for job in needed if job.output]
            return DryRun(
                jobs, sum(bool(job.output) for job in workflow.dag.jobs), workflow.persistence.locked
            )
    except MissingRuleException as error:
        raise InputError(*(f"{config}: {line}" for line in sentences_of(error))) from error
    except (ApiError, WorkflowError, RuleException) as error:
        raise InputError(f"{config}: {' '.join(str(error).split())}") from error


def _planned(job: Job, dag: DAG, settings: Mapping[str, object], files: Mapping[str, str]) -> PlannedJob:
    causes = list(dict.fromkeys(_causes(job, dag, settings, files)))
    # A new model or corruption adds inputs to jobs downstream.
    if OTHER_INPUTS in causes and any(dag.needrun(other) for other in dag.dependencies[job]):
        causes.remove(OTHER_INPUTS)
    inputs, outputs = ([str(file) for file in files] for files in (job.input, job.output))
    return PlannedJob(job.rule.name, list(job.wildcards), outputs, causes, inputs, _asked(job), _minutes(job))


def _asked(job: Job) -> Request | None:
    # Without a profile, all jobs are local.
    if job.rule.name in job.dag.workflow._localrules:
        return None
    given = job.resources
    return Request(
        threads=job.threads,
        mem_mb=int(given.get("mem_mb") or 0),
        minutes=int(given.get("runtime") or 0) or None,
        gpus=int(given.get("gpu") or 0),
    )


def _minutes(job: Job) -> int | None:
    """Return an estimate of a job's time, by the function of its rule that says what to ask for."""
    asked = job.resources
    # Snakemake's own method to evaluate them again works once.
    job._resources = None
    try:
        with estimates():
            found = job.resources.get("runtime")
    finally:
        job._resources = asked
    # A number of minutes is no estimate.
    return None if found == asked.get("runtime") else int(found)


def _causes(job: Job, dag: DAG, settings: Mapping[str, object], files: Mapping[str, str]) -> Iterator[str]:
    """Yield why a job runs, apart from the jobs that make its inputs."""
    reason, records = dag.reason(job), dag.workflow.persistence
    if reason.missing_output:
        yield NOT_MADE
        return
    if reason.forced:
        yield INTERRUPTED
    # Snakemake gives no other reason for a job whose inputs are made again, so its own changes are looked up.
    params = records.params_changed(job)
    applied = job.wildcards_dict.get("corruption", "")
    changed = param_changes(params.only_old, params.only_new, settings, files, applied) if params else []
    yield from changed
    if any(records.code_changed(job)):
        yield f"command of rule {job.rule.name}"
    if reason.software_stack_changed:
        yield "software environment"
    made = {str(file) for files in dag.dependencies[job].values() for file in files}
    for file in sorted(reason.updated_input - reason.updated_input_run):
        yield MADE_SINCE if file in made else _updated(file, changed, dag.max_checksum_file_size)
    if reason.input_changed:
        yield OTHER_INPUTS


def _updated(file: str, changed: Sequence[str], compared: int) -> str:
    """Return why an input that is newer than the outputs counts as updated.

    ``changed``: what changed in the params. Snakemake compares the content of files up to ``compared`` bytes,
    and only the time of larger ones.
    """
    content = f"content of {file}"
    if content in changed or (Path(file).is_file() and Path(file).stat().st_size <= compared):
        return content
    return f"{file} is newer than what was made from it"
