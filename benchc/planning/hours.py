"""What predictions take on a device, from jobs that have been measured or from a given price."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """A finished inference job: wall-clock seconds, its predictions, and those that were not merely looked up."""

    seconds: float
    predictions: int
    computed: int


@dataclass(frozen=True)
class Price:
    """Seconds of a prediction, and on how many computed predictions that rests; None where it was given."""

    seconds: float
    measured: int | None = None

    @property
    def few(self) -> bool:
        """Return whether the price rests on so few predictions that the start of the jobs may outweigh them."""
        return self.measured is not None and self.measured < LEAST_PREDICTIONS


Prices = Mapping[str, Price]  # by model

# A job that looked most predictions up, or computed few, measures its start, not the model.
LEAST_COMPUTED = 0.9
LEAST_PREDICTIONS = 500


def seconds_per_prediction(jobs: Mapping[str, Iterable[Job]]) -> dict[str, Price]:
    """Return the mean seconds a prediction of every model that has a measured job, its start included.

    Jobs that computed less than 90 % of their predictions do not count, nor do those that computed fewer than
    500 where another job of the model computed as many. ``jobs`` are given by model.
    """
    prices = {}
    for model, finished in jobs.items():
        whole = [job for job in finished if job.computed and job.computed >= LEAST_COMPUTED * job.predictions]
        counted = [job for job in whole if job.computed >= LEAST_PREDICTIONS] or whole
        if counted:
            computed = sum(job.computed for job in counted)
            prices[model] = Price(sum(job.seconds for job in counted) / computed, computed)
    return prices


def device_hours(predictions: Mapping[str, int | None], prices: Prices) -> float | None:
    """Return the hours of so many predictions by model; None where one or its price is not known.

    A model without predictions needs no price.
    """
    seconds = 0.0
    for model, count in predictions.items():
        if count == 0:
            continue
        if count is None or model not in prices:
            return None
        seconds += count * prices[model].seconds
    return seconds / 3600
