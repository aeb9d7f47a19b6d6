"""Visual robustness error (VRE): the scaled metrics of severity, weighted (supplement, section C)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchc.benchmarks.vqa_robustness.metrics.severity import METRICS, Floats
from benchc.errors import InputError
from benchc.statistics.rounding import DIGITS

EQUAL = (1.0,) * len(METRICS)
# Of the paper's study of weights: a metric has 0.6, the others 0.1 each.
HEAVY = 6.0


@dataclass(frozen=True)
class Scale:
    """The smallest and the largest value of each metric, float[5] each, which become 0 and 1."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, metrics: Floats) -> "Scale":
        """Return the scale of metrics [5, models, corruptions] of models without NaN.

        Raises InputError where there is no such model.
        """
        known = metrics[:, complete(metrics)]
        if not known.size:
            raise InputError(
                "no model has all metrics of severity, so that they have no scale: First-Drop and Range are "
                "undefined where an error is 0; add models, or questions"
            )
        return cls(known.min(axis=(1, 2)), known.max(axis=(1, 2)))

    @property
    def constant(self) -> npt.NDArray[np.bool_]:
        """Return which metrics have one value only, to ``DIGITS`` decimals, bool[5]."""
        return np.asarray(self.high - self.low < 10.0**-DIGITS)

    def scaled(self, metrics: Floats) -> Floats:
        """Return metrics [5, ...] on this scale: 0 where the scale has one value only.

        Metrics of models that the scale is not of may be outside [0, 1].
        """
        span = np.where(self.constant, 0, self.high - self.low).reshape(-1, *[1] * (metrics.ndim - 1))
        above = metrics - self.low.reshape(span.shape)
        zeros = np.where(np.isnan(metrics), np.nan, 0.0)
        return np.divide(above, span, out=zeros, where=np.broadcast_to(span != 0, metrics.shape))


class Vre(NamedTuple):
    """VRE, and the means of the scaled metrics that it weights; low is robust."""

    model: Floats  # [models], NaN for a model without all metrics
    corruption: Floats  # [corruptions], over the models with all metrics
    model_parts: Floats  # [5, models]
    corruption_parts: Floats  # [5, corruptions]


def vre(scaled: Floats, weights: Floats) -> Vre:
    """Return VRE of each model and corruption.

    Args:
        scaled: float[5, models, corruptions].
        weights: float[5] with the sum 1 (:func:`weights_of`).
    """
    model_parts = scaled.mean(axis=2)
    known = scaled[:, complete(scaled)]
    corruption_parts = known.mean(axis=1) if known.size else np.full(scaled.shape[::2], np.nan)
    return Vre(weights @ model_parts, weights @ corruption_parts, model_parts, corruption_parts)


def complete(metrics: Floats) -> npt.NDArray[np.bool_]:
    """Return which models of metrics [5, models, corruptions] have no NaN."""
    found: npt.NDArray[np.bool_] = np.logical_not(np.isnan(metrics).any(axis=(0, 2)))
    return found


def weights_of(priorities: tuple[float, ...]) -> Floats:
    """Return weights with the sum 1 in proportion to five priorities.

    Raises InputError unless there are five, none negative or infinite, and one above 0.
    """
    found = np.array(priorities, dtype=np.float64)
    text = ", ".join(f"{value:g}" for value in priorities)
    if len(found) != len(METRICS):
        names = ", ".join(METRICS)
        raise InputError(f"weights {text}: are {len(found)}, not 5; give one for each of {names}")
    if not np.isfinite(found).all() or (found < 0).any():
        raise InputError(f"weights {text}: must be numbers of at least 0; correct them")
    if not found.any():
        raise InputError(f"weights {text}: have the sum 0; raise one of them")
    found = found / found.max()  # whose sum cannot overflow
    weights: Floats = found / found.sum()
    return weights


def studied_weights() -> dict[str, Floats]:
    """Return the weights of the paper's study by name: equal ones, and one metric heavier in turn."""
    heavier = {
        name: weights_of(tuple(HEAVY if other == name else 1.0 for other in METRICS)) for name in METRICS
    }
    return {"equal": weights_of(EQUAL), **heavier}
