"""Accuracies on other benchmarks, with the images and without (section 4 of the paper, Figure 4)."""

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.blind_answers import Answers, BlindAnswers, chance_of
from benchc.benchmarks.naturalbench.metrics.bootstrap import PER_CENT, Resamples, estimates
from benchc.command_line import NaturalInt, PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import GUESSING, ORDER
from benchc.rendering.numbers import number_text
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

CAPTION = (
    "Accuracy on other benchmarks with the images and without, and the paired difference, in per cent, with "
    "95 % percentile intervals from {draws} of the items of each benchmark, the same for all models. The "
    "more probable option is the answer. " + GUESSING + ": the expected value of random answers. Best "
    "constant answer: the letter or the text that is right most often; a text is wrong where it is no "
    "option.{sighted}" + ORDER
)
SIGHTED = " {models} can read no question without an image."


def blind_sources(
    answers: Answers, labels: dict[str, str], draws: PositiveInt = 2000, seed: NaturalInt = 0
) -> Table:
    """Return the accuracy of each model on each source with its images and without, in per cent.

    ``labels``: of the sources by id, in order. A source without items has no rows.
    """
    frame = blind_accuracies(answers, labels, draws, seed)
    shown = frame.with_columns(
        always=pl.Series(
            [
                f"{answer}: {number_text(value, signed=False, digits=1)}"
                for answer, value in frame["constant_answer", "constant"].iter_rows()
            ],
            dtype=pl.String,
        )
    )
    columns = [
        Column("source", "Benchmark"),
        Column("model", "Model"),
        Column("items", "Items"),
        Column("guessing", GUESSING, digits=1),
        Column("always", "Best constant answer"),
        Column("seen", "With images", interval=True, digits=1),
        Column("unseen", "Without images", interval=True, digits=1),
        Column("difference", "Difference", interval=True, signed=True, digits=1),
    ]
    sighted = SIGHTED.format(models=", ".join(answers.sighted)) if answers.sighted else ""
    return printed(
        frame,
        columns,
        caption=CAPTION.format(draws=pluralize(draws, "resample"), sighted=sighted),
        label="naturalbench-blind-sources",
        shown=shown,
        text_columns=2,
        small=True,
        summary=f"{pluralize(len(answers.labels), 'model')} on {pluralize(answers.items.height, 'item')}",
    )


def blind_accuracies(answers: BlindAnswers, labels: dict[str, str], draws: int, seed: int) -> pl.DataFrame:
    """Return one row for each source and model; accuracies and chance in per cent.

    Columns: source and model (labels), items, guessing, constant, constant_answer; seen, unseen and
    difference (seen - unseen) with the ends of their intervals. Null where a model has no answers.
    """
    parts = []
    for source, label in labels.items():
        rows = answers.rows(source)
        items = answers.items.filter(rows)
        if items.is_empty():
            continue
        seen = np.stack([right[rows] for right in answers.seen.values()], axis=1).astype(np.float64)
        unseen = np.stack(
            [
                np.full(items.height, np.nan) if isinstance(right, str) else right[rows].astype(np.float64)
                for right in answers.unseen.values()
            ],
            axis=1,
        )
        resamples, chance = Resamples(items.height, draws, seed), chance_of(items)
        assert chance.guessing is not None, "items have options"
        measures = {"seen": seen, "unseen": unseen, "difference": seen - unseen}
        parts.append(
            pl.DataFrame({"model": [*answers.labels.values()]}).select(
                pl.lit(label).alias("source"),
                "model",
                pl.lit(items.height, pl.Int64).alias("items"),
                pl.lit(PER_CENT * chance.guessing).round(9).alias("guessing"),
                pl.lit(PER_CENT * chance.constant).round(9).alias("constant"),
                pl.lit(chance.answer).alias("constant_answer"),
                *(
                    column.alias(name)
                    for measure, values in measures.items()
                    for name, column in estimates(resamples.means(values)).columns(measure).items()
                ),
            )
        )
    return pl.concat(parts)
