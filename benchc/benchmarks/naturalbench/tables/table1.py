"""Table 1: the four accuracies of all models by decoding."""

import polars as pl

from benchc.benchmarks.naturalbench.metrics.bootstrap import PER_CENT, Resamples
from benchc.benchmarks.naturalbench.metrics.groups import CHANCE, MEASURES
from benchc.benchmarks.naturalbench.metrics.readings import NO_OPTION
from benchc.benchmarks.naturalbench.published.tables import HUMAN, HUMAN_G_ACC, of_run, published_table1
from benchc.benchmarks.naturalbench.scored import CleanScores, RunScores
from benchc.benchmarks.naturalbench.tables.frames import (
    DECODING,
    MEASURE_COLUMNS,
    accuracies,
    chance_rows,
    labels_of,
    reading_text,
    resampled,
)
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, ChanceTable
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.published import compare_with_published

CAPTION = (
    "Accuracies by the reading {reading}. Acc: answers; Q-Acc: questions right on both images; I-Acc: images "
    "with both questions right; G-Acc: groups with four right answers; Δ: G-Acc minus that of people. "
    "{resampled} People: as published, on the paper's groups; chance: a coin for each answer, and one answer "
    "to all questions.{note}"
)
NO_ANSWER = " No answer: the share of replies in which none is found."
MOST_REPLIES = " These are more than half for {models}; the other readings, in Table 11, need no replies."


def table1(scored: CleanScores, chance: ChanceTable, reading: str, draws: PositiveInt, seed: int) -> Table:
    """Return Acc, Q-Acc, I-Acc and G-Acc in per cent, after rows of people (as published) and of chance."""
    resamples = Resamples(scored.groups.height, draws, seed)
    models = accuracies(scored, resamples, [(id_, reading) for id_ in scored.models]).with_columns(
        no_answer=pl.Series([_unanswered(scored, id_, reading) for id_ in scored.models], dtype=pl.Float64)
    )
    human = published_table1().filter(model=HUMAN).select("model", *MEASURES)
    references = pl.concat([human, chance_rows(CHANCE)])
    frame = pl.concat(
        [references.with_columns(section=pl.lit("reference")), models.with_columns(section=pl.lit("model"))],
        how="diagonal",
    ).select("section", *models.columns)
    ends = [f"g_acc{end}" for end in ("", "_low", "_high")]
    frame = frame.with_columns(
        (pl.col(name) - HUMAN_G_ACC).round(9).alias(name.replace("g_acc", "delta_human")) for name in ends
    )
    columns = [
        Column("model", "Model"),
        *MEASURE_COLUMNS,
        Column("delta_human", "Δ", signed=True, digits=1),
        *([Column("no_answer", "No answer", digits=1)] if reading == DECODING else []),
    ]
    note = NO_ANSWER if reading == DECODING else ""
    standings = chance.of(reading)
    if most := models.filter(pl.col("no_answer") > PER_CENT / 2)["model"].to_list():
        note += MOST_REPLIES.format(models=", ".join(most))
    note += ORDER + standings.note
    caption = CAPTION.format(reading=reading_text(reading), resampled=resampled(scored, draws), note=note)
    published = of_run(published_table1(), labels_of(scored) if reading == DECODING else {})
    values = {name: name for name in (*MEASURES, "delta_human")}
    return printed(
        frame,
        columns,
        caption=caption,
        label="naturalbench-1",
        shown=frame.with_columns(standings.marked(frame["model"])),
        references=references.height,
        small=True,
        published=compare_with_published(frame, published, on=["model"], values=values),
        summary=f"{pluralize(len(scored.models), 'model')} on {pluralize(scored.groups.height, 'group')}",
    )


def _unanswered(scored: RunScores, model: str, reading: str) -> float | None:
    """Return the share of replies without an answer in per cent; None without single predictions."""
    options = scored.scores[model].predicted.get(reading)
    return None if options is None else round(PER_CENT * float((options == NO_OPTION).mean()), 9)
