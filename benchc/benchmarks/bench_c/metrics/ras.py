"""Uncertainty, calibration error and the robustness alignment score of Bench-C, section 5.

``logits`` are float[..., K], one per option and K >= 2; ``answers`` are int[...], the 0-based right option.
All arithmetic is float64. An option may have the logit -inf (probability 0); NaN, +inf and a prediction
without any finite logit raise ValueError.
"""

import numpy as np
import numpy.typing as npt

from benchc.schemas.logits import Floats, as_logits, prediction

__all__ = [
    "calibration_error",
    "entropy",
    "entropy_and_confidence",
    "prediction",
    "probabilities",
    "ras",
    "ras_of_predictions",
]


@np.errstate(over="ignore")  # a difference of -inf is a probability of 0
def probabilities(logits: npt.ArrayLike) -> Floats:
    """Return softmax(logits), float64[..., K], each in [0, 1] (section 3)."""
    logits = as_logits(logits)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    # Sorted, so that the order of the options changes no bit of the sum, hence of any metric.
    return np.asarray(weights / _sum(_options_first(np.sort(weights, axis=-1)))[..., np.newaxis])


def entropy(logits: npt.ArrayLike) -> Floats:
    """Return the entropy of softmax(logits) divided by log K, float64[...] in [0, 1] (eq. 6).

    Permuting the options changes no bit of the result.
    """
    return entropy_and_confidence(logits)[0]


@np.errstate(over="ignore")
def entropy_and_confidence(logits: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return :func:`entropy` and the largest of :func:`probabilities`, max p, float64[...] in [1/K, 1]."""
    ascending = _options_first(np.sort(as_logits(logits), axis=-1))
    shifted = ascending - ascending[-1]
    weights = np.exp(shifted)
    total = _sum(weights)
    # An option of probability 0 contributes nothing, though its logarithm may be -inf.
    log_probabilities = np.where(weights > 0, shifted, 0.0) - np.log(total)
    summed = _sum(weights / total * log_probabilities)
    # Rounding can leave [0, 1] by an ulp; adding 0 turns -0.0 into 0.0.
    uncertainty = np.clip(-summed / np.log(len(shifted)), 0.0, 1.0) + 0.0
    return np.asarray(uncertainty), np.asarray(weights[-1] / total)


def calibration_error(logits: npt.ArrayLike, answers: npt.ArrayLike) -> Floats:
    """Return ``|1{prediction = answer} - max p|``, float64[...] in [0, 1] (eq. 8).

    Raises ValueError where ``answers`` are not int[...] in [0, K).
    """
    logits = as_logits(logits)
    answers = np.asarray(answers)
    if answers.shape != logits.shape[:-1] or not np.issubdtype(answers.dtype, np.integer):
        raise ValueError(
            f"answers must be integers of shape {logits.shape[:-1]}, one per prediction, not {answers.dtype} "
            f"of shape {answers.shape}"
        )
    options = logits.shape[-1]
    if ((answers < 0) | (answers >= options)).any():
        raise ValueError(f"answers must be in 0..{options - 1}, found {answers.min()} to {answers.max()}")
    correct = prediction(logits) == answers
    return np.asarray(np.abs(correct - probabilities(logits).max(axis=-1)))


def ras(delta_entropy: npt.ArrayLike, delta_calibration: npt.ArrayLike) -> Floats:
    """Return the robustness alignment score, float64[...] in [-2, 1] (eq. 10).

    ``delta_entropy`` (eq. 7) and ``delta_calibration`` (eq. 9) are corrupted minus clean, of one shape;
    ValueError where one leaves [-1, 1] or is NaN.
    """
    delta_s = np.asarray(delta_entropy, dtype=np.float64)
    delta_c = np.asarray(delta_calibration, dtype=np.float64)
    for name, delta in (("delta_entropy", delta_s), ("delta_calibration", delta_c)):
        outside = ~(np.abs(delta) <= 1)  # NaN is outside, too
        if outside.any():
            raise ValueError(f"{name} must be in [-1, 1], found {delta[outside].flat[0]}")
    overconfidence = np.maximum(delta_c, 0.0) * np.maximum(-delta_s, 0.0)
    hesitation = np.maximum(delta_s, 0.0) * np.maximum(-delta_c, 0.0)
    return np.asarray(0.0 - delta_c - overconfidence - hesitation)


def ras_of_predictions(logits: npt.ArrayLike, clean_logits: npt.ArrayLike, answers: npt.ArrayLike) -> Floats:
    """Return RAS (eq. 10) of corrupted and clean predictions of the same items, float64[...] in [-2, 1]."""
    return ras(
        entropy(logits) - entropy(clean_logits),
        calibration_error(logits, answers) - calibration_error(clean_logits, answers),
    )


def _options_first(values: Floats) -> Floats:
    """Return [..., K] as [K, ...]: numpy is slow along a short last axis."""
    return np.ascontiguousarray(np.moveaxis(values, -1, 0))


def _sum(values: Floats) -> Floats:
    """Return the sum along the first axis, in an order that, unlike numpy's, does not depend on the shape."""
    total: Floats = values[0].copy()
    for row in values[1:]:
        total += row
    return total
