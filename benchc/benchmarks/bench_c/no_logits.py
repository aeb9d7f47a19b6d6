"""Numbers that a user gives as logits, and that are something else."""

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

Floats = npt.NDArray[np.float64]

MANY = 10  # rows, of which some would differ from what a fault does to all
# Of a sum of probabilities whose logarithms have two decimals.
ROUNDED = 0.02


def fault_of(values: Floats) -> str | None:
    """Return why a model's logits are none, and the mend; None where they may be.

    ``values``: as from :func:`as_array`, with a row or more.
    """
    total = np.nansum(values, axis=1)
    # Of ten options that are rounded to two decimals, or to whole per cent, it may be 1.05 or 105.
    shares = (total <= 1.05).all() and (total > 0).any()
    if (np.nanmin(values, axis=1) >= 0).all() and (shares or ((total >= 95) & (total <= 105)).all()):
        return (
            "no logit is below 0, and all rows have sums of at most 1, or of about 100, as probabilities, "
            "per cent or cosines may have; give logits, or the logarithms of the probabilities (of cosines, "
            "times the model's logit scale); if these are logits, subtract 100 from each of them, which "
            "changes no RAS"
        )
    # Where one option has nearly all in each row, they are of any base.
    certain = (np.nanmin(np.abs(values), axis=1) <= ROUNDED).all()
    if len(values) < MANY or certain or _are_probabilities(values, 1.0):
        return None
    others = {
        "negative logarithms of probabilities; write them with a minus": -1.0,
        "logarithms of base 10; give natural ones": math.log(10),
        "logarithms of base 2; give natural ones": math.log(2),
    }
    found = next((what for what, factor in others.items() if _are_probabilities(values, factor)), None)
    return found and f"the numbers of each row are {found}"


def doubts_about(values: Floats) -> Iterator[str]:
    """Yield what many numbers may be, which may be logits, too; ``values``: as from :func:`as_array`."""
    if len(values) < MANY:
        return
    # Of an option that is absent, the logit may be -inf.
    finite = np.where(np.isfinite(values), values, np.nan)
    least, most = np.nanmin(finite, axis=1), np.nanmax(finite, axis=1)
    if (most <= least + 1).all():
        yield (
            "the logits of no row differ by more than 1, as cosines and sigmoids; if they are these, give "
            "the model's logits, or RAS is near 0"
        )
    if least.min() >= 0 and most.max() > 50 and (np.nansum(values, axis=1) <= 105).all():
        yield (
            "all numbers are from 0 to 100, and the rows have sums up to 105; if they are per cent, give "
            "logits, or the logarithms of the probabilities"
        )


def as_array(logits: pl.Series) -> Floats:
    """Return logits as float64[rows, options], with NaN behind the options of a row.

    ``logits``: lists of two or more numbers, one list for each prediction, of which one is above -inf.
    """
    counts = logits.list.len().to_numpy()
    values = np.full((len(counts), counts.max(initial=0)), np.nan)
    values[np.arange(values.shape[1]) < counts[:, None]] = logits.explode().cast(pl.Float64).to_numpy()
    return values


def _are_probabilities(values: Floats, factor: float) -> bool:
    """Return whether the exponentials of ``factor`` times the values have a sum of 1 in each row."""
    with np.errstate(over="ignore"):
        return bool((np.abs(np.nansum(np.exp(factor * values), axis=1) - 1) < ROUNDED).all())
