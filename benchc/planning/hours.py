"""What reads take on a device, from jobs that have been measured or from a given price."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """A finished inference job: wall-clock seconds, its reads, and those that were not merely looked up."""

    seconds: float
    reads: int
    computed: int


# A job that looked most reads up measures its start, not the model.
LEAST_COMPUTED = 0.9


def seconds_per_read(jobs: Mapping[str, Iterable[Job]]) -> dict[str, float]:
    """Return the mean seconds a read of every model that has a measured job, its start included.

    Jobs that computed less than 90 % of their reads do not count. ``jobs`` are given by model.
    """
    prices = {}
    for model, finished in jobs.items():
        whole = [job for job in finished if job.computed and job.computed >= LEAST_COMPUTED * job.reads]
        if whole:
            prices[model] = sum(job.seconds for job in whole) / sum(job.computed for job in whole)
    return prices


def device_hours(reads: Mapping[str, int | None], prices: Mapping[str, float]) -> float | None:
    """Return the hours of so many reads by model; None where one or its price is not known."""
    seconds = 0.0
    for model, count in reads.items():
        if count is None or model not in prices:
            return None
        seconds += count * prices[model]
    return seconds / 3600
