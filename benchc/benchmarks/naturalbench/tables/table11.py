"""Table 11: accuracies of each model by all readings."""

import polars as pl

from benchc.benchmarks.naturalbench.metrics.bootstrap import Resamples
from benchc.benchmarks.naturalbench.metrics.groups import CHANCE, CHANCE_SAMPLE, MEASURES
from benchc.benchmarks.naturalbench.published.tables import of_run, published_table11
from benchc.benchmarks.naturalbench.scored import CleanScores, RunScores
from benchc.benchmarks.naturalbench.tables.frames import (
    MEASURE_COLUMNS,
    READINGS,
    SAMPLE,
    accuracies,
    chance_rows,
    labels_of,
    marked_by_reading,
    resampled,
)
from benchc.command_line import PositiveInt
from benchc.rendering.chance import ORDER, ChanceTable
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.published import compare_with_published

CAPTION = (
    "Accuracies by reading. Decoding: a generated answer; deterministic: the more probable answer; post-hoc: "
    "the answer that the image makes more probable (eq. 5); global τ: the one for which most groups are "
    "right, by type: one for each type of question, cross-fitted: chosen from the other half of the groups; "
    "sample τ: the best of each question, image or group. Random chance with a global τ "
    "is that of a τ from other groups. {unavailable}{resampled}" + ORDER
)


def table11(scored: CleanScores, chance: ChanceTable, draws: PositiveInt, seed: int) -> Table:
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
    marked, note = marked_by_reading(frame, chance)
    single = chance_rows(CHANCE).with_columns(reading=pl.lit("all others"))
    sample = chance_rows(CHANCE_SAMPLE).with_columns(reading=pl.lit(READINGS[SAMPLE]))
    first = pl.concat([single, *([sample] if SAMPLE in readings else [])], how="diagonal")
    shown = frame.with_columns(pl.col("reading").replace(READINGS), marked)
    return printed(
        frame,
        [Column("model", "Model"), Column("reading", "Reading"), *MEASURE_COLUMNS],
        caption=CAPTION.format(unavailable=notes, resampled=resampled(scored, draws)) + note,
        label="naturalbench-11",
        shown=pl.concat([frame.clear(), first, shown], how="diagonal"),
        references=first.height,
        small=True,
        published=compare_with_published(frame, published, on=["model", "reading"], values=values),
    )


def shown_readings(scored: RunScores) -> list[str]:
    """Return the readings that a model has, or that it should have, in the order of the paper."""
    missing = {
        reading for scores in scored.scores.values() for reading in scores.footer.get("unavailable", {})
    }
    return [reading for reading in READINGS if reading in {*scored.readings, *missing}]
