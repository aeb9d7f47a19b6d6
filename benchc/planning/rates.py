"""Seconds per prediction of a model, measured on finished inference jobs of this run or of others."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from benchc.config.catalogue import Model
from benchc.models.job_counts import job_counts
from benchc.planning.amounts import Amount

# Keys of a model's entry that change no speed; of its GPUs, a record says only whether there are any.
NO_SPEED = (
    *("label", "year", "parameters_b", "note", "state", "recommended"),
    *("revision", "adapter", "adapter_revision", "mem_mb", "env", "max_new_tokens"),
)
# A job that found more of its predictions in the cache measures its start rather than the model.
MIN_COMPUTED = 0.9


@dataclass(frozen=True)
class Rate:
    """Seconds per prediction.

    ``measured``: on how many predictions, or None for a rate that the user gave. ``run``: the other run whose
    jobs were measured. ``images``: seconds of these in which a job makes the images, also of a prediction
    that it looks up in the cache. ``start``: seconds of a job before its first prediction; None where
    ``seconds`` is the time of whole jobs.
    """

    seconds: Amount
    measured: int | None = None
    run: str | None = None
    images: float = 0.0
    start: float | None = None

    def text(self) -> str:
        """Return what was measured: the number of predictions, and the other run."""
        if not self.measured:
            return "–"
        return f"{self.measured:,}" + (f" of {self.run}" if self.run else "")


Rates = Mapping[str, Rate]  # by model


def measured_rates(
    models: Mapping[str, Model], logs: Path, results: Path, rule: Literal["infer", "answer"] = "infer"
) -> dict[str, Rate]:
    """Return the rate of every model with a finished job that computed predictions, loading included.

    ``logs`` and ``results`` are the run's folders, beside those of other runs; ``rule`` is the one whose jobs
    are measured. Only jobs that computed at
    least 90 % of their predictions count. If a model has none, the job with the fewest seconds per computed
    prediction is an upper bound. A model without such jobs in the run has the rate of the other run in which
    it computed most, as an estimate, among the runs whose record has the same entry of it.
    """
    others = sorted(logs.parent.glob("*"))
    rates = {}
    for model, entry in models.items():
        rate = _rate(model, logs / "benchmarks" / rule)
        if rate is None:
            found = [
                (folder, other)
                for folder in others
                if (other := _rate(model, folder / "benchmarks" / rule)) is not None
                and _is_same(entry, results.parent / folder.name / "config-models.yaml", model)
            ]
            if found:
                folder, other = max(found, key=lambda pair: pair[1].measured or 0)
                rate = Rate(Amount(other.seconds.value, "estimate"), other.measured, folder.name)
        if rate is not None:
            rates[model] = rate
    return rates


def _is_same(entry: Model, record: Path, model: str) -> bool:
    """Return whether the record of a run has the same model, asked in the same way on the same device."""
    try:
        other = Model.model_validate(yaml.safe_load(record.read_text())[model])
    except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError):
        return False
    ours, theirs = (
        each.model_dump(exclude=set(NO_SPEED)) | {"gpus": bool(each.gpus)} for each in (entry, other)
    )
    return ours == theirs


def _rate(model: str, benchmarks: Path) -> Rate | None:
    """Return the rate of a model in a run; None where no job of it computed predictions.

    ``benchmarks``: the folder logs/{name}/benchmarks/{rule}.
    """
    jobs = list(_jobs(model, benchmarks))
    if full := [job for job in jobs if job.share >= MIN_COMPUTED]:
        computed = sum(job.computed for job in full)
        return Rate(Amount(sum(job.seconds for job in full) / computed), computed)
    if not jobs:
        return None
    best = min(jobs, key=lambda job: job.seconds / job.computed)
    return Rate(Amount(best.seconds / best.computed, "at most"), best.computed)


@dataclass(frozen=True)
class _Job:
    seconds: float
    computed: int
    share: float  # computed, of its predictions


def _jobs(model: str, benchmarks: Path) -> Iterator[_Job]:
    """Yield the finished jobs that computed predictions."""
    logs = benchmarks.parents[1] / benchmarks.name
    for benchmark in benchmarks.glob(f"*/{model}/*.jsonl"):
        log = logs / benchmark.relative_to(benchmarks).with_suffix(".log")
        predictions, computed = job_counts(log.read_text(errors="replace")) if log.exists() else (0, 0)
        try:
            seconds = float(json.loads(benchmark.read_text(errors="replace").splitlines()[-1])["s"])
        except (ValueError, TypeError, KeyError, IndexError):
            continue  # cut off or edited
        if 0 < seconds < float("inf") and computed:
            yield _Job(seconds, computed, computed / predictions)
