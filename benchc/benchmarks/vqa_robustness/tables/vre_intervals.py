"""Intervals of VRE and the stability of ranks, from resamples of images, for the tables of VRE."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.vqa_robustness.grades import Grade, Graded, answers_of, by_image
from benchc.benchmarks.vqa_robustness.inputs import PoolImages
from benchc.benchmarks.vqa_robustness.metrics.bootstrap import rank_shares, vre_draws
from benchc.benchmarks.vqa_robustness.metrics.severity import Floats, Levels, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import EQUAL, Scale, ranks, vre, weights_of
from benchc.benchmarks.vqa_robustness.schemas.intervals import INTERVALS
from benchc.benchmarks.vqa_robustness.tables.frames import frozen_scale
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ChanceTable
from benchc.rendering.output import Table


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
    """Return the columns ``INTERVALS`` of each model and corruption.

    Models have ranks among those that are ranked; corruptions have ranks if a model has. ``scale_of``: a
    table of errors whose scale is frozen, or no file, so that each resample has its own.
    """
    answers = answers_of(graded, labels, corruptions, grade)
    metrics, scale = severity_metrics(answers.errors, levels), frozen_scale(scale_of, levels)
    sample = vre((scale or Scale.of(metrics)).scaled(metrics), weights_of(weights))
    wrong, questions = by_image(answers, pool)
    found = vre_draws(wrong, questions, weights_of(weights), draws, seed, levels, scale)
    model_draws, corruption_draws = (part[1:][found.kept] for part in (found.models, found.corruptions))
    of_models, of_corruptions = found.intervals()
    is_ranked = np.isin(answers.models, chance.ranked)
    of_all = np.full(len(answers.corruptions), is_ranked.any())
    parts = (
        _rows("model", answers.models, of_models, sample.model, model_draws, is_ranked),
        _rows("corruption", answers.corruptions, of_corruptions, sample.corruption, corruption_draws, of_all),
    )
    left_out = int((~found.kept).sum())
    frame = pl.concat(parts).with_columns(
        images=pl.lit(len(questions)), draws=pl.lit(draws), left_out=pl.lit(left_out)
    )
    columns = [pl.col(name).cast(dtype) for name, dtype in INTERVALS.items()]
    return Table(frame.select(columns), summary=f"intervals from {pluralize(draws, 'resample')}")


def _rows(
    kind: str,
    names: Sequence[str],
    interval: tuple[Floats, Floats],
    values: Floats,
    draws: Floats,
    is_ranked: npt.NDArray[np.bool_],
) -> pl.DataFrame:
    """Return one row for each name; ``values``: VRE in the sample; ``draws``: [resamples, names]."""
    shares = rank_shares(np.where(is_ranked, draws, np.nan))
    found = ranks(np.where(is_ranked, values, np.nan))
    same = [float(shares[row, rank - 1]) if rank else None for row, rank in enumerate(found)]
    low, high = (pl.Series(end).fill_nan(None) for end in interval)
    columns = {"name": names, "vre_low": low, "vre_high": high}
    return pl.DataFrame(columns).with_columns(
        pl.lit(kind).alias("kind"), pl.Series("rank_stability", same, dtype=pl.Float64)
    )
