"""Show what a run would do: which jobs, why, and at most how many new predictions. Nothing is run.

Snakemake decides, as in `snakemake -n`, which lists every job. Run it in the repository's root, like
snakemake.
"""

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import fill

from benchc.config.load import Config
from benchc.errors import InputError
from benchc.planning.amounts import Amount, total
from benchc.planning.param_changes import flat
from benchc.planning.plan import plan_of
from benchc.planning.stages import Work, work_of
from benchc.pluralize import pluralize
from scripts.command import Parser, run
from scripts.dry_run import INTERRUPTED, NOT_MADE, DryRun, PlannedJob, dry_run
from scripts.plan import read_config

WIDTH = 110
# Folders of results in which each file has a rule of its own.
OUTPUTS = {"tables": "table", "figures": "figure", "pages": "page"}


def main(argv: Sequence[str] | None = None, prog: str = "python -m scripts.what_reruns") -> None:
    parser = Parser(__spec__.name, __doc__, prog)
    parser.add_argument("config", type=Path, help="the run's configuration")
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="target",
        help="rule or file that the run would make, such as figure1a [all tables and figures]",
    )
    arguments = parser.parse_args(argv)
    path, targets = arguments.config, arguments.targets
    config = read_config(path)
    plan = dry_run(path, targets, flat(config.settings.model_dump()))
    print("\n".join(report(path, config, plan, targets)))


def report(path: Path, config: Config, plan: DryRun, targets: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines that describe a dry run of the configuration in the file ``path``."""
    name = config.settings.name + (f" for {', '.join(targets)}" if targets else "")
    command = " ".join(["snakemake", *targets, "--configfile", str(path)])
    if plan.locked:
        yield (
            f"{path}: run {name} is locked: another Snakemake runs it, or was killed. If none is running:\n"
            f"  {command} --unlock && {command} --cores all --rerun-incomplete"
        )
    elif any(INTERRUPTED in job.causes for job in plan.jobs):
        yield (
            f"{path}: run {name} was interrupted and left incomplete files. To continue:\n"
            f"  {command} --cores all --rerun-incomplete"
        )
    if not plan.jobs:
        yield f"{path}: nothing to rerun; all {pluralize(plan.total, 'job')} of run {name} are up to date"
        return
    if len(plan.jobs) == plan.total and all(NOT_MADE in job.causes for job in plan.jobs):
        yield f"{path}: nothing of run {name} is made yet: {pluralize(plan.total, 'job')}"
        yield listed("", plan.jobs, named=1)
    else:
        yield f"{path}: {len(plan.jobs)} of {pluralize(plan.total, 'job')} of run {name} would run"
        groups: defaultdict[tuple[str, ...], list[PlannedJob]] = defaultdict(list)
        for job in plan.jobs:
            groups[tuple(job.causes)].append(job)
        unmade, downstream = groups.pop((NOT_MADE,), []), groups.pop((), [])
        for causes, jobs in sorted(groups.items(), key=lambda group: (len(group[1]), group[0])):
            yield listed(f"{'; '.join(causes)}: ", jobs, named=3)
        if unmade:
            yield listed(f"{NOT_MADE}: ", unmade, named=3)
        if downstream:
            yield listed("downstream of these: ", downstream, named=1)
    yield f"new predictions: {new_predictions(config, plan.jobs)}"


def listed(label: str, jobs: Sequence[PlannedJob], named: int) -> str:
    """Return the number of jobs of each stage as an indented paragraph; of up to ``named`` also which."""
    stages: defaultdict[str, list[str]] = defaultdict(list)
    for job in jobs:
        folder = Path(job.outputs[0]).parent.name
        if folder in OUTPUTS:
            stages[OUTPUTS[folder]].append(job.rule)
        else:
            stages[job.rule].append("/".join(job.wildcards))
    parts = []
    for stage, which in sorted(stages.items(), key=lambda item: (-len(item[1]), item[0])):
        count = pluralize(len(which), stage) if stage in OUTPUTS.values() else f"{len(which)} {stage}"
        names = f" ({', '.join(sorted(which))})" if len(which) <= named else ""
        parts.append(stage if which == [""] else f"{count}{names}")
    # Lines do not break in "2 infer".
    text = label + ", ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in parts)
    filled = fill(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    return filled.replace("\N{NO-BREAK SPACE}", " ")


def new_predictions(config: Config, jobs: Iterable[PlannedJob]) -> str:
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
    if left.value is None:
        return "unknown until the pool is built"
    return left.text() + (", less those in the cache" if left.value else "")


if __name__ == "__main__":
    run(main)
