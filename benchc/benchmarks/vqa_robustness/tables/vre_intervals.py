"""Intervals of VRE and accuracy, and the stability of ranks, from resamples of images."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.vqa_robustness.grades import Grade, Graded, answers_of, by_image
from benchc.benchmarks.vqa_robustness.inputs import PoolImages
from benchc.benchmarks.vqa_robustness.metrics.bootstrap import Draws, vre_draws
from benchc.benchmarks.vqa_robustness.metrics.severity import Floats, Levels, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import EQUAL, Scale, studied_weights, vre, weights_of
from benchc.benchmarks.vqa_robustness.schemas.intervals import (
    ACCURACY,
    CORRUPTION,
    INTERVALS,
    MODEL,
    STUDIED,
)
from benchc.benchmarks.vqa_robustness.tables.frames import frozen_scale
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ChanceTable
from benchc.rendering.output import Table
from benchc.statistics.ranks import rank_shares, ranks
from benchc.statistics.resampling import percentile_interval


def vre_intervals(
    graded: Graded,
    pool: PoolImages,
    chance: ChanceTable,
    scale_of: list[Path],
    labels: dict[str, str],
    corruptions: list[str],
    grade: Grade,
    draws: PositiveInt,
    seed: int,
    weights: tuple[float, ...] = EQUAL,
    levels: Levels = "0..5",
) -> Table:
    """Return the columns ``INTERVALS`` of each model and corruption, and of each model under each weighting.

    Models have ranks among those that are ranked; corruptions have ranks if a model has. ``scale_of``: a
    table of errors whose scale is frozen, or no file, so that each resample has its own.
    """
    answers = answers_of(graded, labels, corruptions, grade)
    metrics, scale = severity_metrics(answers.errors, levels), frozen_scale(scale_of, levels)
    sample = vre((scale or Scale.of(metrics)).scaled(metrics), weights_of(weights))
    wrong, questions = by_image(answers, pool)
    found = vre_draws(wrong, questions, weights_of(weights), draws, seed, levels, scale)
    is_ranked = np.isin(answers.models, chance.ranked)
    of_all = np.full(len(answers.corruptions), is_ranked.any())
    parts = [
        _rows(MODEL, answers.models, found, sample.model, found.models, is_ranked),
        _rows(CORRUPTION, answers.corruptions, found, sample.corruption, found.corruptions, of_all),
        *(
            _rows(
                STUDIED.format(name),
                answers.models,
                found,
                each @ sample.model_parts,
                each @ found.model_parts,
                is_ranked,
            )
            for name, each in studied_weights().items()
        ),
        _accuracies(answers.models, found),
    ]
    left_out = int((~found.kept).sum())
    frame = pl.concat(parts).with_columns(
        images=pl.lit(len(questions)), draws=pl.lit(draws), left_out=pl.lit(left_out)
    )
    columns = [pl.col(name).cast(dtype) for name, dtype in INTERVALS.items()]
    return Table(frame.select(columns), summary=f"intervals from {pluralize(draws, 'resample')}")


def _rows(
    kind: str,
    names: Sequence[str],
    found: Draws,
    values: Floats,
    drawn: Floats,
    is_ranked: npt.NDArray[np.bool_],
) -> pl.DataFrame:
    """Return one row for each name; ``values``: VRE in the sample; ``drawn``: [1 + draws, names]."""
    shares = rank_shares(np.where(is_ranked, drawn[1:][found.kept], np.nan))
    own = ranks(np.where(is_ranked, values, np.nan))
    known = found.is_enough
    same = [float(shares[row, rank - 1]) if rank and known else None for row, rank in enumerate(own)]
    return _frame(kind, names, found.interval(drawn)).with_columns(
        pl.Series("rank_stability", same, dtype=pl.Float64)
    )


def _accuracies(names: Sequence[str], found: Draws) -> pl.DataFrame:
    interval = percentile_interval(1 - found.errors[1:])
    return _frame(ACCURACY, names, interval).with_columns(rank_stability=pl.lit(None, pl.Float64))


def _frame(kind: str, names: Sequence[str], interval: tuple[Floats, Floats]) -> pl.DataFrame:
    low, high = (pl.Series(end).fill_nan(None) for end in interval)
    return pl.DataFrame({"name": names, "low": low, "high": high}).with_columns(kind=pl.lit(kind))
