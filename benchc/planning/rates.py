"""Seconds per prediction of a model, measured on the run's finished inference jobs."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchc.models.job_counts import job_counts
from benchc.planning.amounts import Amount

# A job that found more of its predictions in the cache measures its start rather than the model.
MIN_COMPUTED = 0.9


@dataclass(frozen=True)
class Rate:
    """Seconds per prediction, and on how many it was measured: None for a rate that the user gave."""

    seconds: Amount
    measured: int | None = None


Rates = Mapping[str, Rate]  # by model


def measured_rates(models: Iterable[str], logs: Path) -> dict[str, Rate]:
    """Return the rate of every model with a finished job that computed predictions, loading included.

    ``logs`` is the run's folder. Only jobs that computed at least 90 % of their predictions count. If a model
    has none, the job with the fewest seconds per computed prediction is an upper bound.
    """
    rates = {}
    for model in models:
        jobs = list(_jobs(model, logs))
        if full := [job for job in jobs if job.share >= MIN_COMPUTED]:
            computed = sum(job.computed for job in full)
            rates[model] = Rate(Amount(sum(job.seconds for job in full) / computed), computed)
        elif jobs:
            best = min(jobs, key=lambda job: job.seconds / job.computed)
            rates[model] = Rate(Amount(best.seconds / best.computed, "at most"), best.computed)
    return rates


@dataclass(frozen=True)
class _Job:
    seconds: float
    computed: int
    share: float  # computed, of its predictions


def _jobs(model: str, logs: Path) -> Iterator[_Job]:
    """Yield the finished jobs that computed predictions."""
    for benchmark in (logs / "benchmarks/infer").glob(f"*/{model}/*.jsonl"):
        log = logs / benchmark.relative_to(logs / "benchmarks").with_suffix(".log")
        predictions, computed = job_counts(log.read_text(errors="replace")) if log.exists() else (0, 0)
        try:
            seconds = float(json.loads(benchmark.read_text(errors="replace").splitlines()[-1])["s"])
        except (ValueError, TypeError, KeyError, IndexError):
            continue  # cut off or edited
        if 0 < seconds < float("inf") and computed:
            yield _Job(seconds, computed, computed / predictions)
