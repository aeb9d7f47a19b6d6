"""Seconds per prediction of a model, measured on the run's finished inference jobs."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchc.models.job_counts import job_counts

# A job that found more of its predictions in the cache measures its start, not the model.
MIN_COMPUTED = 0.9


@dataclass(frozen=True)
class Rate:
    """Seconds per prediction, and on how many it was measured: None for a rate that the user gave."""

    seconds: float
    measured: int | None = None


Rates = Mapping[str, Rate]  # by model


def measured_rates(models: Iterable[str], logs: Path) -> dict[str, Rate]:
    """Return the rate of every model with a finished job, loading included; ``logs`` is the run's folder.

    Jobs that computed less than 90 % of their predictions do not count.
    """
    rates = {}
    for model in models:
        jobs = list(_jobs(model, logs))
        if jobs:
            computed = sum(count for _, count in jobs)
            rates[model] = Rate(sum(seconds for seconds, _ in jobs) / computed, computed)
    return rates


def _jobs(model: str, logs: Path) -> Iterator[tuple[float, int]]:
    """Yield seconds and computed predictions of the jobs that count."""
    for benchmark in (logs / "benchmarks/infer").glob(f"*/{model}/*.jsonl"):
        log = logs / benchmark.relative_to(logs / "benchmarks").with_suffix(".log")
        predictions, computed = job_counts(log.read_text(errors="replace")) if log.exists() else (0, 0)
        try:
            seconds = float(json.loads(benchmark.read_text(errors="replace").splitlines()[-1])["s"])
        except (ValueError, TypeError, KeyError, IndexError):
            continue  # cut off or edited
        if 0 < seconds < float("inf") and computed and computed >= MIN_COMPUTED * predictions:
            yield seconds, computed
