"""How far judgements agree, and what a model's score would be by other readings of the same judgements."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from benchc.benchmarks.r_bench.metrics.item_scores import LETTER, REPLY, item_scores
from benchc.statistics.agreement import agreement
from benchc.statistics.resampling import Floats, item_counts
from benchc.statistics.rounding import DIGITS

AS_CONFIGURED = "as configured"
IS_LETTER = pl.col("judge") == LETTER
HAS_LETTER = IS_LETTER.any().over(REPLY)


def repeated(judgements: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each judged reply with its repeats in columns `0`, `1`, ...; at least two.

    ``judgements``: rows of JUDGE_SCORES. A reply with fewer repeats than the most of its task and kind is
    left out, and letters, which have one.
    """
    by_judge = judgements.filter(~IS_LETTER)
    most = pl.col("repeat").n_unique().over(REPLY)
    counted = by_judge.with_columns(most.alias("repeats"))
    kept = counted.filter((pl.col("repeats") == pl.col("repeats").max().over("task", "kind")) & (most > 1))
    return kept.pivot("repeat", index=REPLY, values="score", maintain_order=True)


def with_letters(judgements: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each MCQ reply that a letter decides and a judge has read: columns letter, judge.

    ``judge``: the majority of its repeats.
    """
    letters = judgements.filter(judge=LETTER).select(*REPLY, letter="score")
    judged = judgements.filter(~IS_LETTER, task="mcq").group_by(REPLY)
    majority = judged.agg(judge=(pl.col("score").mean() + 0.5).floor())
    return letters.join(majority, on=REPLY, maintain_order="left")


def agreements(rows: pl.DataFrame, raters: list[str], draws: int, seed: int) -> Floats:
    """Return the share of rows on which all raters agree, and kappa, float64[1 + draws, 2].

    Row 0 is of the sample, the others of resamples of the items; NaN where undefined, also without rows.
    ``rows``: id, and the scores of the raters, of which each value is a category.
    """
    if rows.is_empty():
        return np.full((1 + draws, 2), np.nan)
    values, ratings = np.unique(rows.select(raters).to_numpy().round(DIGITS), return_inverse=True)
    items = rows["id"].rank("dense").cast(pl.Int64).to_numpy() - 1
    counts = item_counts(int(items.max()) + 1, draws, seed)
    return np.column_stack(agreement(ratings.reshape(rows.height, -1), len(values), items, counts))


def readings(judgements: Mapping[str, pl.DataFrame]) -> Iterator[tuple[str, dict[str, pl.DataFrame]]]:
    """Yield the name of a reading of the judgements of all models, and SCORES by it; first that of the run.

    Others: each repeat alone, where all models have repeats; MCQ by a letter first, where a judge has also
    read replies with one; MCQ by letters alone, where replies without one are wrong, if some have a letter.
    """
    repeats = min(max(rows["repeat"], default=0) for rows in judgements.values()) + 1
    mcq = pl.concat([rows.filter(task="mcq") for rows in judgements.values()])
    both, some = (mcq.select(value=each.any()).item() for each in (HAS_LETTER & ~IS_LETTER, IS_LETTER))
    found: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {AS_CONFIGURED: lambda rows: rows}
    for number in range(repeats if repeats > 1 else 0):
        found[f"judgement {number + 1}"] = partial(_single, number=number)
    if both:
        found["letter first"] = lambda rows: rows.filter(IS_LETTER | ~HAS_LETTER)
    if some:
        found["letters alone"] = _by_letters
    for name, read in found.items():
        yield name, {model: item_scores(read(rows), Path(model)) for model, rows in judgements.items()}


def _single(rows: pl.DataFrame, number: int) -> pl.DataFrame:
    """Return the repeat ``number`` of each reply, or the only judgement of a reply that has one."""
    repeats = pl.col("repeat").n_unique().over(REPLY)
    return rows.filter((pl.col("repeat") == number) | (repeats == 1))


def _by_letters(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the judgements, of MCQ the letters, and 0 for a reply without one."""
    is_mcq = pl.col("task") == "mcq"
    wrong = pl.when(is_mcq & ~IS_LETTER).then(0.0).otherwise("score").alias("score")
    return rows.filter(~is_mcq | IS_LETTER | ~HAS_LETTER).with_columns(wrong)
