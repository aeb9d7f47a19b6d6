"""What reads take on a device, from jobs that have been measured or from a given price."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """A finished inference job: wall-clock seconds, its reads, and those that were not merely looked up."""

    seconds: float
    reads: int
    computed: int


@dataclass(frozen=True)
class Price:
    """Seconds of a read, and on how many computed reads that rests; None where it was given."""

    seconds: float
    measured: int | None = None

    @property
    def few(self) -> bool:
        """Return whether the price rests on so few reads that the start of the jobs may outweigh them."""
        return self.measured is not None and self.measured < LEAST_READS


Prices = Mapping[str, Price]  # by model

# A job that looked most reads up, or computed few, measures its start, not the model.
LEAST_COMPUTED = 0.9
LEAST_READS = 500


def seconds_per_read(jobs: Mapping[str, Iterable[Job]]) -> dict[str, Price]:
    """Return the mean seconds a read of every model that has a measured job, its start included.

    Jobs that computed less than 90 % of their reads do not count, nor do those that computed fewer than 500
    where another job of the model computed as many. ``jobs`` are given by model.
    """
    prices = {}
    for model, finished in jobs.items():
        whole = [job for job in finished if job.computed and job.computed >= LEAST_COMPUTED * job.reads]
        counted = [job for job in whole if job.computed >= LEAST_READS] or whole
        if counted:
            computed = sum(job.computed for job in counted)
            prices[model] = Price(sum(job.seconds for job in counted) / computed, computed)
    return prices


def device_hours(reads: Mapping[str, int | None], prices: Prices) -> float | None:
    """Return the hours of so many reads by model; None where one or its price is not known.

    A model without reads needs no price.
    """
    seconds = 0.0
    for model, count in reads.items():
        if count == 0:
            continue
        if count is None or model not in prices:
            return None
        seconds += count * prices[model].seconds
    return seconds / 3600
