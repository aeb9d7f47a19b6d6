"""The limits that SLURM's accounting sets for a user: how many jobs and GPUs at once, and for how long."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from getpass import getuser

from benchc.cluster.found import said
from benchc.cluster.site import SITE, Request, Site, minutes_of
from benchc.errors import InputError
from benchc.pluralize import pluralize

SACCTMGR = ("sacctmgr", "--noheader", "--parsable2", "show")
OF_ASSOCIATION = "Account,DefaultQOS,MaxJobs,MaxSubmit,MaxWall,MaxTRES,GrpTRES"
OF_QOS = "Name,MaxJobsPU,MaxSubmitPU,MaxWall,MaxTRES,MaxTRESPU"
DEFAULT_QOS = "normal"
GPUS = re.compile(r"(?:^|,)gres/gpu=(\d+)")


@dataclass(frozen=True)
class Limit:
    """The limits of an account or a qos; None for none.

    ``running``, ``submitted``: jobs at once; ``minutes``, ``gpus_of_job``: of one job; ``gpus``: at once.
    """

    where: str
    running: int | None = None
    submitted: int | None = None
    minutes: int | None = None
    gpus_of_job: int | None = None
    gpus: int | None = None

    def reached(self, asked: Sequence[Request], jobs: int) -> Iterator[str]:
        """Yield what jobs would reach, ``jobs`` of them at once."""
        long = [each for each in asked if self.minutes and (each.minutes or 0) > self.minutes]
        if long:
            yield (
                f"{self.where} allows a job {self.minutes} minutes, which {pluralize(len(long), 'job')} "
                f"{'exceeds' if len(long) == 1 else 'exceed'}: set max_runtime of the partition in {SITE}."
            )
        large = [each for each in asked if self.gpus_of_job is not None and each.gpus > self.gpus_of_job]
        if large:
            yield (
                f"{self.where} allows a job {pluralize(self.gpus_of_job or 0, 'GPU')}, and SLURM will refuse "
                f"{pluralize(len(large), 'job')} with more."
            )
        most = min(jobs, len(asked))
        for number, what in ((self.submitted, "wait or run"), (self.running, "run")):
            if number is not None and number < most:
                jobs_text = pluralize(number, "job")
                yield f"{self.where} lets {jobs_text} {what} at once; the others wait for them."
        hours = sum(each.gpus * (each.minutes or 0) / 60 for each in asked)
        if self.gpus and hours and sum(each.gpus for each in asked) > self.gpus:
            yield (
                f"{self.where} lets you have {pluralize(self.gpus, 'GPU')} at once: {hours / self.gpus:,.0f} "
                "hours, if all jobs take the time that they ask for."
            )


def limits_of(site: Site) -> list[Limit]:
    """Return the limits of the user's accounts and their qos that a site names, or else of all.

    There are none where SLURM has no accounting or does not answer, or a container has no name of the user.
    """
    try:
        associations = _rows("associations", OF_ASSOCIATION, f"user={getuser()}")
        all_qos = {name: limits for name, *limits in _rows("qos", OF_QOS)}
    except (InputError, KeyError, OSError):
        return []
    partitions = site.limits.values()
    accounts = {name for name in (site.account, *(each.account for each in partitions)) if name}
    named = {name for name in (site.qos, *(each.qos for each in partitions)) if name}
    found, defaults = [], set()
    for account, qos, running, submitted, wall, of_job, at_once in associations:
        if not accounts or account in accounts:
            found.append(_limit(f"account {account}", running, submitted, wall, of_job, at_once))
            defaults.add(qos or DEFAULT_QOS)
    chosen = sorted(named or defaults)
    found += [_limit(f"qos {name}", *all_qos[name]) for name in chosen if name in all_qos]
    return list(dict.fromkeys(found))


def _rows(kind: str, fields: str, *where: str) -> list[list[str]]:
    text = said(*SACCTMGR, kind, *where, f"format={fields}")
    rows = [line.split("|") for line in text.splitlines() if line.strip()]
    return [row for row in rows if len(row) == len(fields.split(","))]


def _limit(where: str, running: str, submitted: str, wall: str, of_job: str, at_once: str) -> Limit:
    try:
        minutes = minutes_of(wall)
    except ValueError:  # empty
        minutes = None
    return Limit(where, _count(running), _count(submitted), minutes, _gpus(of_job), _gpus(at_once))


def _count(text: str) -> int | None:
    return int(text) if text.isdigit() else None


def _gpus(tres: str) -> int | None:
    match = GPUS.search(tres)
    return int(match[1]) if match else None
