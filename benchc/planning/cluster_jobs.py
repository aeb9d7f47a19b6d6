"""What the jobs of a run ask a cluster for, by rule, before anything is submitted."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchc.cluster.executor import packed, together
from benchc.cluster.limits import Limit
from benchc.cluster.site import EXAMPLE, SITE, Request, Site, placed
from benchc.config.yaml_file import read_yaml
from benchc.errors import InputError
from benchc.home import HOME
from benchc.planning.amounts import Amount, digits_text, hours_text, total
from benchc.planning.dry_run import PlannedJob
from benchc.pluralize import pluralize
from benchc.rendering.markdown import markdown

PROFILE = Path("slurm/profile.yaml")
HEADER = ["jobs", "number", "GPUs", "cores", "memory", "time each", "time asked for", "partitions"]
CUT = {"threads": "cores", "mem_mb": "memory", "minutes": "time"}


@dataclass(frozen=True)
class Profile:
    """What slurm/profile.yaml gives to jobs whose rule states nothing, and the most jobs at once."""

    mem_mb: int
    minutes: int
    jobs: int


@dataclass(frozen=True)
class Asked:
    """A job, what it needs, and what it asks for in a partition; None where no partition takes it."""

    job: PlannedJob
    needed: Request
    placed: Request | None

    @property
    def request(self) -> Request:
        return self.placed or self.needed


def read_profile() -> Profile:
    """Return the profile, else that of the code. Raises InputError where it lacks a number."""
    path = PROFILE if PROFILE.is_file() else HOME / PROFILE
    try:
        content = read_yaml(path)
        given = content["default-resources"]
        return Profile(int(given["mem_mb"]), int(given["runtime"]), int(content["jobs"]))
    except (OSError, ValueError, OverflowError, KeyError, TypeError) as error:
        raise InputError(
            f"{path}: has no numbers for jobs, default-resources.mem_mb and default-resources.runtime; take "
            "the repository's"
        ) from error


def asked_of(jobs: Iterable[PlannedJob], site: Site, profile: Profile) -> list[Asked]:
    """Return the jobs that go to the cluster, with what each asks for there."""
    found = []
    for job in jobs:
        if job.asked is None:
            continue
        missing = {} if job.asked.mem_mb else {"mem_mb": profile.mem_mb}
        missing |= {} if job.asked.minutes else {"minutes": profile.minutes}
        needed = job.asked.model_copy(update=missing)
        try:
            found.append(Asked(job, needed, placed(needed, site)))
        except InputError:
            found.append(Asked(job, needed, None))
    return found


def slurm_jobs(asked: Iterable[Asked], planned: Sequence[PlannedJob], site: Site) -> list[Request]:
    """Return the jobs of SLURM where jobs that are equally far from the first are ready together.

    ``planned``: all jobs of the run. Short jobs that are ready together are one job of SLURM.
    """
    depths = depths_of(planned)
    levels: defaultdict[int, list[Request]] = defaultdict(list)
    for each in asked:
        if each.placed is not None:
            levels[depths[each.job.outputs[0]]].append(each.placed)
    packs = (pack for level in levels.values() for pack in packed(level, site.limits, lambda each: each))
    return [together(pack) for pack in packs]


def depths_of(planned: Sequence[PlannedJob]) -> dict[str, int]:
    """Return the number of jobs on the longest way to each output."""
    makers = {output: job for job in planned for output in job.outputs}
    depths: dict[str, int] = {}
    for job in planned:
        waiting = [job]
        while waiting:
            each = waiting[-1]
            before = [makers[path] for path in each.inputs if path in makers]
            unknown = [other for other in before if other.outputs[0] not in depths]
            if unknown:
                waiting += unknown
                continue
            depth = 1 + max((depths[other.outputs[0]] for other in before), default=0)
            depths |= dict.fromkeys(each.outputs, depth)
            waiting.pop()
    return depths


def cluster_markdown(
    planned: Sequence[PlannedJob], site: Site, profile: Profile, items: Amount, limits: Iterable[Limit]
) -> str:
    """Return what the jobs of a run ask for, by rule, and notes: GPU hours, and limits that they reach.

    ``items``: of the pool, by which times are asked for; ``limits``: of the user.
    """
    depths = depths_of(planned)
    asked = sorted(asked_of(planned, site, profile), key=lambda each: depths[each.job.outputs[0]])
    if not asked:
        return "No job is left for the cluster.\n"
    groups: defaultdict[tuple[str, int, str], list[Asked]] = defaultdict(list)
    for each in asked:
        groups[each.job.rule, each.request.gpus, _partitions(each, site)].append(each)
    rows = [
        [
            *(rule, f"{len(own)}", f"{gpus or '–'}"),
            _range((each.request.threads for each in own), "{:.0f}".format),
            _range((each.request.mem_mb / 1000 for each in own), lambda size: f"{digits_text(size, 3)} GB"),
            _range(map(_hours, (each.job.minutes for each in own)), hours_text),
            _range(map(_hours, (each.request.minutes for each in own)), hours_text),
            partitions,
        ]
        for (rule, gpus, partitions), own in groups.items()
    ]
    submitted = slurm_jobs(asked, planned, site)
    notes = _notes(asked, len(planned) - len(asked), len(submitted), items)
    lines = [markdown(HEADER, rows), *(f"- {note}" for note in notes)]
    if site == EXAMPLE:
        lines.append(f"- partitions: those of the example; `benchc site` describes your cluster in {SITE}.")
    lines += [f"- {line}" for limit in limits for line in limit.reached(submitted, profile.jobs)]
    return "\n".join(lines) + "\n"


def _partitions(asked: Asked, site: Site) -> str:
    """Return the partitions that give a job what it needs, its own first; else its own, and what it lacks."""
    needed, found = asked.needed, asked.placed
    if found is None:
        return f"none has {pluralize(needed.gpus, 'GPU')}"
    cut = [word for name, word in CUT.items() if getattr(found, name) < getattr(needed, name)]
    if cut:
        return f"{found.partition}, with less {' and '.join(cut)}"
    fitting = [
        name
        for name, limits in site.limits.items()
        if bool(limits.max_gpu) == bool(needed.gpus)
        and limits.max_gpu >= needed.gpus
        and needed.at_most(limits) == needed
    ]
    return ", ".join(dict.fromkeys([found.partition, *fitting]))


def _range(numbers: Iterable[float | None], show: Callable[[float], str]) -> str:
    """Return the least and the largest of the numbers that are known."""
    known = sorted({each for each in numbers if each is not None})
    return " to ".join(dict.fromkeys(map(show, (known[0], known[-1])))) if known else "–"


def _hours(minutes: int | None) -> float | None:
    return None if minutes is None else minutes / 60


def _notes(asked: Sequence[Asked], local: int, submitted: int, items: Amount) -> Iterator[str]:
    refused = sum(each.placed is None for each in asked)
    yield (
        f"about {pluralize(submitted, 'job')} of SLURM for {len(asked) - refused} of snakemake, as short "
        f"ones share one, and {pluralize(local, 'job')} on the node of snakemake."
    )
    if refused:
        yield (
            f"{pluralize(refused, 'job')} cannot be submitted, as no partition has the GPUs: correct max_gpu "
            f"in {SITE}, or the models' gpus."
        )
    submitted_ones = [(each.placed, each.job.minutes or 0) for each in asked if each.placed is not None]
    gpu_hours = total(Amount(own.gpus * (own.minutes or 0) / 60, "at most") for own, _ in submitted_ones)
    estimate = sum(own.gpus * minutes / 60 for own, minutes in submitted_ones)
    if gpu_hours.value:
        yield (
            f"{gpu_hours.text(digits_text)} GPU hours are asked for, if no job is submitted again; "
            f"about {digits_text(estimate)} are needed on an H100."
        )
    on_gpu = ", on an H100 where a job has a GPU" if gpu_hours.value else ""
    if items.value is None:
        yield "time each: without that of items in tables that are not made yet."
        return
    yield (
        f"time each: estimated by each rule for {items.text()} items with images of a megapixel{on_gpu}, in "
        "minutes rounded up; not measured on this run. Jobs ask for five minutes and three times as much "
        "before rounding, at most for a day where they go on after a time-out."
    )
