"""Mean accuracy of models and under corruptions, and how far it is below that on clean images."""

from typing import NamedTuple

import numpy as np

from benchc.benchmarks.vqa_robustness.metrics.severity import Floats


class Drops(NamedTuple):
    """Mean accuracies in [0, 1] and relative drops, positive where corruption costs accuracy.

    A relative drop is NaN where the clean accuracy is 0.
    """

    clean: Floats  # [models], A_v0
    model: Floats  # [models], A_v: the mean over corruptions and the levels 0 to 5
    model_drop: Floats  # [models], (A_v0 - A_v) / A_v0
    corruption: Floats  # [corruptions], A_c: the mean over models and the levels 0 to 5
    corruption_drop: Floats  # [corruptions], as above with the mean of A_v0 over models
    cell_drop: Floats  # [models, corruptions], the drop of each model under each corruption


def drops(errors: Floats) -> Drops:
    """Return mean accuracies and relative drops.

    ``errors``: float[models, corruptions, 6] in [0, 1]. The clean accuracy of a model is the mean of its
    level 0 over corruptions, where it is one number.
    """
    accuracy = 1 - errors
    clean = accuracy[:, :, 0].mean(axis=1)
    model, corruption = accuracy.mean(axis=(1, 2)), accuracy.mean(axis=(0, 2))
    return Drops(
        clean,
        model,
        _below(model, clean),
        corruption,
        _below(corruption, np.full_like(corruption, clean.mean())),
        _below(accuracy.mean(axis=2), np.repeat(clean[:, None], accuracy.shape[1], axis=1)),
    )


def _below(accuracy: Floats, clean: Floats) -> Floats:
    return np.divide(clean - accuracy, clean, out=np.full_like(clean, np.nan), where=clean > 0)
