"""Bootstrap of VRE over images: all questions about an image are drawn together, for all models alike."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchc.benchmarks.vqa_robustness.metrics.severity import Floats, Levels, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, complete, vre
from benchc.statistics.resampling import drawn_means, item_counts, on_grid, percentile_interval

# Of the resamples; intervals of the others would be of another population.
MOST_LEFT_OUT = 0.05


class Draws(NamedTuple):
    """VRE in the sample itself, row 0, and in each resample; NaN where it is undefined.

    A resample in which other models have VRE than in the sample is left out, with NaN for all: VRE of the
    others is then on another scale, and that of corruptions is a mean over others.
    """

    models: Floats  # [1 + draws, models]
    corruptions: Floats  # [1 + draws, corruptions]
    model_parts: Floats  # [1 + draws, 5, models], the scaled metrics that VRE weights
    errors: Floats  # [1 + draws, models], means over corruptions and levels; of all resamples

    @property
    def kept(self) -> npt.NDArray[np.bool_]:
        """Return which resamples are not left out, bool[draws]."""
        return np.logical_not(np.isnan(self.corruptions[1:]).all(axis=1))

    @property
    def is_enough(self) -> bool:
        """Return whether at most ``MOST_LEFT_OUT`` of the resamples are left out."""
        return bool(self.kept.mean() >= 1 - MOST_LEFT_OUT)

    def interval(self, drawn: Floats) -> tuple[Floats, Floats]:
        """Return the ends of the 95 % percentile intervals of VRE ``drawn``, [1 + draws, things].

        NaN where VRE is undefined, and where more than ``MOST_LEFT_OUT`` of the resamples are left out.
        """
        if not self.is_enough:
            none = np.full(drawn.shape[1], np.nan)
            return none, none
        return percentile_interval(drawn[1:][self.kept])


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
    sums = on_grid(wrong.reshape(-1, images).T, images)
    errors = drawn_means(counts, sums, questions).reshape(-1, *shape)
    metrics = severity_metrics(errors, levels).swapaxes(0, 1)  # [1 + draws, 5, models, corruptions]
    models = np.full((len(metrics), shape[0]), np.nan)
    parts = np.full((len(metrics), metrics.shape[1], shape[0]), np.nan)
    corruptions = np.full((len(metrics), shape[1]), np.nan)
    sample = complete(metrics[0])
    for draw, values in enumerate(metrics):
        if sample.any() and np.array_equal(complete(values), sample):
            own = Scale.of(values) if scale is None else scale
            found = vre(own.scaled(values), weights)
            models[draw], corruptions[draw], parts[draw] = found.model, found.corruption, found.model_parts
    return Draws(models, corruptions, parts, errors.mean(axis=(2, 3)))
