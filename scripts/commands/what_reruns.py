"""List the jobs that a run would start, why, and at most how many new predictions."""

import shlex
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill

from benchc.config.load import Config, read_config
from benchc.errors import InputError
from benchc.models.asking import Job
from benchc.planning.amounts import Amount, total
from benchc.planning.dry_run import INTERRUPTED, NOT_MADE, DryRun, PlannedJob, dry_run
from benchc.planning.new_predictions import expected_predictions
from benchc.planning.param_changes import flat, parameter_files
from benchc.planning.plan import plan_of
from benchc.planning.stages import Work, work_of
from benchc.pluralize import pluralize

WIDTH = 110
CACHE = Job().cache
# Folders of results whose files decide which items of the pool are asked about.
SELECTING = ("selection", "subsets")
# Folders of results in which each file has a rule of its own.
OUTPUTS = {"tables": "table", "figures": "figure", "pages": "page"}


def what_reruns(config: Path, /, *targets: str) -> None:
    """Show what a run would do: which jobs, why, and at most how many new predictions. Nothing is run.

    Snakemake decides, as in `snakemake -n`, which lists every job.

    Args:
        config: the run's configuration
        targets: rules or files that the run would make, such as figure1a; default: all tables and figures
    """
    read = read_config(config)
    chosen = read.settings.corruptions
    files = parameter_files(chosen.suite, chosen.own_files)
    plan = dry_run(config, targets, flat(read.settings.model_dump(mode="json")), files)
    print("\n".join(report(config, read, plan, targets)))


def report(path: Path, config: Config, plan: DryRun, targets: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines that describe a dry run of the configuration in the file ``path``."""
    name = config.settings.name + (f" for {', '.join(targets)}" if targets else "")
    command = shlex.join(["benchc", "run", str(path)])
    again = shlex.join(["benchc", "run", str(path), *targets, "--cores", "all"])
    if plan.locked:
        yield (
            f"{path}: run {name} is locked: another Snakemake runs it, or was killed. If none is running:\n"
            f"  {command} --unlock && {again}"
        )
    elif any(INTERRUPTED in job.causes for job in plan.jobs):
        yield f"{path}: run {name} was interrupted and left incomplete files. To continue:\n  {again}"
    if not plan.jobs:
        yield f"{path}: nothing to rerun; all {pluralize(plan.total, 'job')} of run {name} are up to date"
        return
    if len(plan.jobs) == plan.total and all(NOT_MADE in job.causes for job in plan.jobs):
        yield f"{path}: nothing of run {name} is made yet: {pluralize(plan.total, 'job')}"
        yield listed(plan.jobs, named=1, indent=2)
    else:
        yield f"{path}: {len(plan.jobs)} of {pluralize(plan.total, 'job')} of run {name} would run"
        of_cause: defaultdict[str, list[PlannedJob]] = defaultdict(list)
        for job in plan.jobs:
            for cause in job.causes:
                of_cause[cause].append(job)
        unmade, downstream = of_cause.pop(NOT_MADE, []), [job for job in plan.jobs if not job.causes]
        # Each cause is named once; those of the same jobs together.
        groups: defaultdict[tuple[int, ...], list[str]] = defaultdict(list)
        for cause, jobs in of_cause.items():
            groups[tuple(map(id, jobs))].append(cause)
        for causes in sorted(map(sorted, groups.values()), key=lambda each: (len(of_cause[each[0]]), each)):
            yield from (f"  {cause}" for cause in causes)
            yield listed(of_cause[causes[0]], named=3, indent=4)
        if unmade:
            yield f"  {NOT_MADE}"
            yield listed(unmade, named=3, indent=4)
        if downstream:
            yield "  downstream of these"
            yield listed(downstream, named=1, indent=4)
    yield f"new predictions: {new_predictions(config, plan.jobs)}"


def listed(jobs: Sequence[PlannedJob], named: int, indent: int) -> str:
    """Return the number of jobs of each stage as an indented paragraph; of up to ``named`` also which."""
    stages: defaultdict[str, list[str]] = defaultdict(list)
    for job in jobs:
        folder = Path(job.outputs[0]).parent.name
        # Links to those of a finished run are not made.
        if folder in OUTPUTS and job.rule != "take":
            stages[OUTPUTS[folder]].append(job.rule)
        else:
            stages[job.rule].append("/".join(job.wildcards))
    parts = []
    for stage, which in sorted(stages.items(), key=lambda item: (-len(item[1]), item[0])):
        count = pluralize(len(which), stage) if stage in OUTPUTS.values() else f"{len(which)} {stage}"
        names = f" ({', '.join(sorted({*which}))})" if len(which) <= named else ""
        parts.append(stage if which == [""] else f"{count}{names}")
    # Lines do not break in "2 infer".
    text = ", ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in parts)
    margin = " " * indent
    filled = fill(text, WIDTH, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)
    return filled.replace("\N{NO-BREAK SPACE}", " ")


def new_predictions(config: Config, jobs: Sequence[PlannedJob]) -> str:
    """Return how many predictions the jobs would compute: those of their stages that no current file has.

    The benchmark plans a run from its existing tables, so it is given those that would stay.
    """
    results = Path("results") / config.settings.name
    outdated = {Path(output) for job in jobs for output in job.outputs}

    def outputs(each: Work) -> set[Path]:
        return {results / output.format(model=each.model) for output in each.stage.outputs}

    with tempfile.TemporaryDirectory() as folder:
        for file in results.rglob("*.parquet"):
            if file not in outdated:
                link = Path(folder) / file.relative_to(results)
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(file.absolute())
        try:
            work = work_of(plan_of(config, Path(folder)).stages, Path(folder), {})
        except InputError as error:
            return f"unknown ({str(error).replace(folder, str(results))})"
    # Where there are targets, other files may be missing too.
    left = total([Amount(0), *(each.left for each in work if outputs(each) & outdated)])
    try:
        known = left.value != 0 and not any(map(_selects_otherwise, jobs))
        expected = expected_predictions(config, results, jobs, CACHE) if known else None
    except InputError as error:
        return f"unknown ({error})"
    if expected is not None and expected.value != left.value:
        most = "" if left.value is None else f", at most {left.value:,}"
        return f"{expected.text()} if the same items are selected{most}"
    if left.value is None:
        return "unknown until the pool is built"
    return left.text() + (", less those in the cache" if left.value else "")


def _selects_otherwise(job: PlannedJob) -> bool:
    """Return whether a job that decides the items of a subset was itself changed."""
    return bool(job.causes) and any(Path(file).parent.name in SELECTING for file in job.outputs)
