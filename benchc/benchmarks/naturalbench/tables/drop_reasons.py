"""Why questions are not kept, by round and type."""

from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.kinds import QuestionType
from benchc.benchmarks.naturalbench.schemas.kept import KEPT
from benchc.benchmarks.naturalbench.tables.names import TYPE_LABELS
from benchc.command_line import PositiveInt
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.schemas.parquet import read_table
from benchc.statistics.resampling import drawn_means, item_counts, percentile_interval
from benchc.statistics.rounding import rounded

REASONS = ("no_question", "disagreement", "unanswerable", "wrong_answer")
CAPTION = (
    "Questions by round and type: those that were asked for, the share that all annotators answered as "
    "expected on both images (95 % interval from {draws:,} resamples of the pairs), and why the others were "
    "dropped: the reply was not usable, annotators disagreed, agreed that the question cannot be answered, "
    "or agreed on another answer. Dropped questions are asked for again in the next round, if there is one."
)


def drop_reasons(kept: list[Path], draws: PositiveInt, seed: int) -> Table:
    """Return counts by round (files in order, from round 0) and type of questions."""
    frame = pl.concat(
        row
        for number, path in enumerate(kept)
        for row in drop_rows(read_table(path, KEPT), str(number), draws, seed)
    )
    columns = [
        Column("round", "Round"),
        Column("type", "Type"),
        Column("questions", "Questions"),
        Column("kept", "Kept", interval=True),
        Column("no_question", "No question"),
        Column("disagreement", "Disagreement"),
        Column("unanswerable", "Unanswerable"),
        Column("wrong_answer", "Another answer"),
    ]
    return printed(
        frame,
        columns,
        caption=CAPTION.format(draws=draws),
        label="dropped-questions",
        shown=frame.with_columns(pl.col("type").replace(TYPE_LABELS)),
    )


def drop_rows(kept: pl.DataFrame, name: str, draws: int, seed: int) -> list[pl.DataFrame]:
    """Return one row for each type that a round (type KEPT) has."""
    return [
        _row(kept.filter(type=kind), name, kind, draws, seed)
        for kind in get_args(QuestionType)
        if kind in kept["type"]
    ]


def _row(kept: pl.DataFrame, name: str, kind: str, draws: int, seed: int) -> pl.DataFrame:
    by_pair = kept.group_by("pair").agg(pl.len(), pl.col("kept").sum()).sort("pair")
    counts = item_counts(by_pair.height, draws, seed)
    found = drawn_means(
        counts,
        by_pair["kept"].to_numpy().astype(np.float64)[:, None],
        by_pair["len"].to_numpy().astype(np.float64),
    )
    ends = percentile_interval(found[1:]) if by_pair.height > 1 else np.full((2, 1), np.nan)
    share, low, high = rounded(np.concatenate([found[0], *ends]))
    reasons = {reason: kept.filter(reason=reason).height for reason in REASONS}
    return pl.DataFrame(
        [
            {
                "round": name,
                "type": kind,
                "questions": kept.height,
                "kept": share,
                **reasons,
                "kept_low": low,
                "kept_high": high,
            }
        ],
        schema_overrides={"kept_low": pl.Float64, "kept_high": pl.Float64},
    )
