"""Table 11: accuracies of each model by all readings."""

import polars as pl

from benchc.benchmarks.naturalbench.metrics.bootstrap import Resamples
from benchc.benchmarks.naturalbench.metrics.groups import MEASURES
from benchc.benchmarks.naturalbench.published.tables import of_run, published_table11
from benchc.benchmarks.naturalbench.scored import CleanScores, RunScores
from benchc.benchmarks.naturalbench.tables.frames import (
    MEASURE_COLUMNS,
    READINGS,
    accuracies,
    labels_of,
    resampled,
)
from benchc.command_line import PositiveInt
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.published import compare_with_published

CAPTION = (
    "Accuracies by reading. Decoding: a generated answer; deterministic: the more probable answer; post-hoc: "
    "the answer that the image makes more probable (eq. 5); global τ: the one for which most groups are "
    "right, by type: one for each type of question, cross-fitted: chosen from the other half of the groups; "
    "sample τ: the best of each question, image or group. {unavailable}{resampled}"
)


def table11(scored: CleanScores, draws: PositiveInt, seed: int) -> Table:
    """Return the accuracies in per cent of each model and reading; null for a reading that it does not have.

    ``unavailable`` says why.
    """
    readings = shown_readings(scored)
    keys = [(id_, reading) for id_ in scored.models for reading in readings]
    resamples = Resamples(scored.groups.height, draws, seed)
    frame = accuracies(scored, resamples, keys)
    reasons = [scored.scores[id_].footer.get("unavailable", {}).get(reading) for id_, reading in keys]
    frame = frame.with_columns(
        pl.Series("reading", [reading for _, reading in keys], dtype=pl.String),
        pl.Series("unavailable", reasons, dtype=pl.String),
    ).select("model", "reading", *frame.columns[1:], "unavailable")
    told = frame.drop_nulls("unavailable").select("model", "reading", "unavailable").iter_rows()
    notes = "".join(
        f"{READINGS[reading]} is not available for {model}: {reason}. " for model, reading, reason in told
    )
    values = {name: name for name in MEASURES if name != "acc"}
    published = of_run(published_table11(), labels_of(scored))
    return printed(
        frame,
        [Column("model", "Model"), Column("reading", "Reading"), *MEASURE_COLUMNS],
        caption=CAPTION.format(unavailable=notes, resampled=resampled(scored, draws)),
        label="naturalbench-11",
        shown=frame.with_columns(pl.col("reading").replace(READINGS)),
        small=True,
        published=compare_with_published(frame, published, on=["model", "reading"], values=values),
    )


def shown_readings(scored: RunScores) -> list[str]:
    """Return the readings that a model has, or that it should have, in the order of the paper."""
    missing = {
        reading for scores in scored.scores.values() for reading in scores.footer.get("unavailable", {})
    }
    return [reading for reading in READINGS if reading in {*scored.readings, *missing}]
