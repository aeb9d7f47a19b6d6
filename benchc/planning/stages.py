"""The stages of a run and the predictions in them: one model, one item, one variant of its images."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchc.planning.amounts import Amount, total
from benchc.planning.rates import Rate, Rates
from benchc.schemas.parquet import TableError, read_footer


@dataclass(frozen=True)
class Stage:
    """A stage in which each of ``models`` answers the same items.

    ``items`` and ``predictions`` are of one model. ``outputs``: files of one model's jobs in the run's
    results, with ``{model}``. ``part_of``: the stage that computes these predictions too; a model of both
    looks them up here. ``own_items``: whether its items are of another pool than ``pool/items.parquet``.
    """

    name: str
    models: tuple[str, ...]
    items: Amount
    predictions: Amount
    outputs: tuple[str, ...]
    part_of: str | None = None
    own_items: bool = False


@dataclass(frozen=True)
class Work:
    """What one model does in one stage.

    ``distinct``: predictions without those that another stage computes too. ``done``: those in its files.
    ``jobs_left``: its jobs whose file is not there.
    """

    stage: Stage
    model: str
    distinct: Amount
    done: int
    left: Amount  # of the distinct ones
    rate: Rate | None
    hours: Amount  # of the distinct ones
    hours_left: Amount
    jobs_left: int


def work_of(stages: Sequence[Stage], results: Path, rates: Rates) -> list[Work]:
    """Return the work of every model in every stage of the run whose tables are in ``results``."""
    pairs = [(stage, model) for stage in stages for model in stage.models]
    names = {(stage.name, model) for stage, model in pairs}
    work = []
    for stage, model in pairs:
        distinct = Amount(0) if (stage.part_of, model) in names else stage.predictions
        done = _done(stage, model, results)
        left, rate = distinct.minus(done), rates.get(model)
        jobs = len(stage.outputs)
        jobs_left = sum(not (results / output.format(model=model)).exists() for output in stage.outputs)
        # Only of those that are looked up: the time of the others' images is in their rate.
        shown = stage.predictions if distinct.value == 0 else Amount(0)
        hours = _hours(distinct, shown, jobs, rate)
        hours_left = _hours(left, shown.minus(done), jobs_left, rate)
        work.append(Work(stage, model, distinct, done, left, rate, hours, hours_left, jobs_left))
    return work


def _hours(predictions: Amount, looked_up: Amount, jobs: int, rate: Rate | None) -> Amount:
    """Return the hours of some predictions, of the images of others that are looked up, and of the starts."""
    if rate is None:
        return predictions if predictions.value == 0 else Amount(None)
    seconds = [predictions.times(rate.seconds)]
    if rate.images:
        seconds.append(looked_up.times(Amount(rate.images, "estimate")))
    if rate.start is not None:
        seconds.append(Amount(jobs * rate.start, "estimate"))
    return total(seconds).times(1 / 3600)


def _done(stage: Stage, model: str, results: Path) -> int:
    """Return the predictions in a model's files, at most those of the stage: files may be of a larger run."""
    paths = [results / output.format(model=model) for output in stage.outputs]
    found = sum(_predictions(path) for path in paths if path.exists())
    return found if stage.predictions.value is None else min(found, int(stage.predictions.value))


def _predictions(path: Path) -> int:
    footer = read_footer(path)
    noun = "answers" if "answers" in footer else "predictions"
    count = footer.get(noun, 0)
    if type(count) is not int:
        raise TableError(
            f"{path}: its footer has {count!r} {noun}, not a number; delete it and run snakemake again"
        )
    return count


def work_table(work: Sequence[Work]) -> pl.DataFrame:
    """Return one row per stage and model; null is unknown, and measured is null where a rate was given."""
    rows = [
        {
            "stage": each.stage.name,
            "model": each.model,
            "jobs": len(each.stage.outputs),
            "items": each.stage.items.value,
            "items_known": each.stage.items.certainty,
            "predictions": each.stage.predictions.value,
            "predictions_known": each.stage.predictions.certainty,
            "distinct_predictions": each.distinct.value,
            "done": each.done,
            "left": each.left.value,
            "seconds_per_prediction": each.rate and each.rate.seconds.value,
            "seconds_known": each.rate and each.rate.seconds.certainty,
            "predictions_measured": each.rate and each.rate.measured,
            "hours": each.hours.value,
            "hours_left": each.hours_left.value,
        }
        for each in work
    ]
    return pl.DataFrame(rows, infer_schema_length=None)
