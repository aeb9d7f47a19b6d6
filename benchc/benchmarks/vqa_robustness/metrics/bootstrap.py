"""Bootstrap of VRE over images: all questions about an image are drawn together, for all models alike."""

from typing import NamedTuple

import numpy as np

from benchc.benchmarks.vqa_robustness.metrics.severity import Floats, Levels, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, complete, ranks, vre
from benchc.statistics.resampling import drawn_means, item_counts, on_grid, percentile_interval


class Draws(NamedTuple):
    """VRE in the sample itself, row 0, and in each resample; NaN where it is undefined."""

    models: Floats  # [1 + draws, models]
    corruptions: Floats  # [1 + draws, corruptions]

    def intervals(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Return the ends of the 95 % percentile intervals of the models and of the corruptions.

        NaN where VRE is undefined in the sample or in a resample.
        """
        return _interval(self.models), _interval(self.corruptions)


def vre_draws(
    wrong: Floats,
    questions: Floats,
    weights: Floats,
    draws: int,
    seed: int,
    levels: Levels = "0..5",
    scale: Scale | None = None,
) -> Draws:
    """Return VRE in resamples of the images.

    Args:
        wrong: float[models, corruptions, 6, images], the wrong answers to the questions about an image.
        questions: float[images], the number of questions about it, above 0.
        weights: float[5] with the sum 1.
        draws: number of resamples.
        seed: their seed.
        levels: as in :func:`severity_metrics`.
        scale: a frozen scale; None scales each resample by its own minima and maxima.
    """
    shape, images = wrong.shape[:3], wrong.shape[3]
    counts = item_counts(images, draws, seed)
    sums = on_grid(wrong.reshape(-1, images).T, images * draws)
    errors = drawn_means(counts, sums, questions).reshape(-1, *shape)
    metrics = severity_metrics(errors, levels).swapaxes(0, 1)  # [1 + draws, 5, models, corruptions]
    models = np.full((len(metrics), shape[0]), np.nan)
    corruptions = np.full((len(metrics), shape[1]), np.nan)
    for draw, values in enumerate(metrics):
        if complete(values).any():
            own = Scale.of(values) if scale is None else scale
            found = vre(own.scaled(values), weights)
            models[draw], corruptions[draw] = found.model, found.corruption
    return Draws(models, corruptions)


def rank_shares(draws: Floats) -> Floats:
    """Return the share of resamples in which each has each rank, float[things, things].

    ``draws``: float[1 + draws, things], from :class:`Draws`. A thing without VRE has no rank.
    """
    count = draws.shape[1]
    drawn = np.stack([ranks(row) for row in draws[1:]])  # [draws, things]
    shares: Floats = (drawn[:, :, None] == np.arange(1, count + 1)).mean(axis=0)
    return shares


def _interval(draws: Floats) -> tuple[Floats, Floats]:
    low, high = percentile_interval(draws[1:])
    undefined = np.isnan(draws).any(axis=0)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)
