"""How the error of a model changes with the level of a corruption (supplement of the paper, section C)."""

from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Levels = Literal["0..5", "1..5"]

LEVELS = 6  # level 0 is clean
# Below, a ratio would overflow; no share of questions is so small.
SMALLEST = 1e-12
METRICS = ("first_drop", "range", "error_rate", "average_error", "average_difference")


def severity_metrics(errors: Floats, levels: Levels = "0..5") -> Floats:
    """Return the five metrics of an error, in the order of ``METRICS``.

    Args:
        errors: float[..., 6] in [0, 1], at the levels 0 (clean) to 5.
        levels: those of range, error rate and average error. The code of the paper takes all six; its
            nomenclature says 1 to 5.

    Returns float[5, ...]: First-Drop (E1 - E0) / E0, Range (max - min) / min, Error Rate (the slope of the
    least-squares line), Average Error, and Average Difference (the mean of E1 - E0 to E5 - E0). NaN where a
    denominator is 0.
    """
    clean, corrupted = errors[..., 0], errors[..., 1:]
    taken = errors if levels == "0..5" else corrupted
    centred = np.arange(taken.shape[-1]) - (taken.shape[-1] - 1) / 2
    low = taken.min(axis=-1)
    return np.stack(
        [
            _ratio(corrupted[..., 0] - clean, clean),
            _ratio(taken.max(axis=-1) - low, low),
            taken @ centred / (centred @ centred),
            taken.mean(axis=-1),
            (corrupted - clean[..., None]).mean(axis=-1),
        ]
    )


def falls(errors: Floats) -> npt.NDArray[np.int64]:
    """Return how many of the five steps of errors float[..., 6] fall: 0 where the error is monotone."""
    steps: npt.NDArray[np.int64] = (np.diff(errors, axis=-1) < 0).sum(axis=-1)
    return steps


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    return np.divide(
        numerator, denominator, out=np.full_like(denominator, np.nan), where=denominator > SMALLEST
    )
