"""How far annotators agree, by round of review."""

from pathlib import Path

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.schemas.reviewed import REVIEWED
from benchc.command_line import PositiveInt
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.schemas.parquet import read_footer, read_table
from benchc.statistics.agreement import agreement as agreement_of
from benchc.statistics.resampling import item_counts, percentile_interval
from benchc.statistics.rounding import rounded

ANSWERS = 3  # Yes or A, No or B, Unanswerable
ALL = "all questions"
CAPTION = (
    "Agreement of {annotators}, by round of review. Agreement is the share of rows to which all give the "
    "same answer, Expected answers the share of answers that keep the question or pair. Kappa is {kappa}; it "
    "is not defined (–) where all answers are one. In brackets: 95 % intervals from {draws:,} resamples of "
    "the pairs; where all resamples give one value, they say nothing of the spread, and there is none (–)."
)


def agreement(reviewed: list[Path], draws: PositiveInt, seed: int) -> Table:
    """Return rows, agreement, kappa and the share of expected answers of each round, and of all questions."""
    tables = {str(read_footer(path)["round"]): read_table(path, REVIEWED) for path in reviewed}
    questions = [table for table in tables.values() if table["q_idx"].null_count() == 0]
    annotators = pl.concat(tables.values())["annotator"].n_unique()
    frame = pl.concat(
        [
            *(agreement_row(table, name, draws, seed) for name, table in tables.items()),
            agreement_row(pl.concat(questions), ALL, draws, seed),
        ]
    )
    columns = [
        Column("round", "Round"),
        Column("rows", "Rows"),
        Column("agreement", "Agreement", interval=True),
        Column("kappa", "Kappa", interval=True),
        Column("expected_answers", "Expected answers"),
    ]
    caption = CAPTION.format(
        annotators=f"{annotators} annotators",
        draws=draws,
        kappa="Cohen's" if annotators == 2 else "Fleiss'",
    )
    return printed(frame, columns, caption=caption, label="annotator-agreement")


def agreement_row(reviewed: pl.DataFrame, name: str, draws: int, seed: int) -> pl.DataFrame:
    """Return one row for the reviews (type REVIEWED) of a round, or of several rounds."""
    row: dict[str, object] = {"round": name, "rows": 0} | dict.fromkeys(VALUES)
    if reviewed.height:
        wide = reviewed.pivot("annotator", index=["id", "pair"], values="answer", maintain_order=True)
        ratings = wide.drop("id", "pair").to_numpy().astype(np.int64)
        clusters = wide["pair"].rank("dense").cast(pl.Int64).to_numpy() - 1
        counts = item_counts(int(clusters.max()) + 1, draws, seed)
        found = np.column_stack(agreement_of(ratings, ANSWERS, clusters, counts))
        low, high = percentile_interval(found[1:]) if counts.shape[1] > 1 else np.full((2, 2), np.nan)
        # Equal ends, as of rows on which all agree, are no interval.
        ends = np.where(low == high, np.nan, [low, high])
        numbers = rounded(np.concatenate([found[0], *ends])).to_list()
        right = reviewed.select((pl.col("answer") == pl.col("expected")).mean()).item()
        row |= {"rows": wide.height} | dict(zip(VALUES, [*numbers, right], strict=True))
    return pl.DataFrame(
        [row], schema={"round": pl.String, "rows": pl.Int64, **dict.fromkeys(VALUES, pl.Float64)}
    )


VALUES = (
    "agreement",
    "kappa",
    "agreement_low",
    "kappa_low",
    "agreement_high",
    "kappa_high",
    "expected_answers",
)
