"""Option logits as arrays, and the predicted option."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.errors import InputError
from benchc.pluralize import pluralize

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

NAMED = 5  # how many predictions a message lists


def as_logits(values: npt.ArrayLike) -> Floats:
    """Return ``values``, float[..., K], as float64 logits of K >= 2 options.

    Values may be finite or -inf (an option that the model rules out), but one option must be finite. Raises
    ValueError for fewer than two options, NaN, +inf, or only -inf.
    """
    # One memory layout: numpy sums a transposed array in another order.
    logits = np.asarray(values, dtype=np.float64, order="C")
    if logits.ndim == 0 or logits.shape[-1] < 2:
        raise ValueError(
            f"logits need at least two options along the last axis, their shape is {logits.shape}"
        )
    # The largest logit is NaN where any is, +inf where any is, and -inf only where all are.
    bad = ~np.isfinite(logits.max(axis=-1))
    if bad.any():
        first = tuple(int(index) for index in np.argwhere(bad)[0])
        raise ValueError(
            f"{pluralize(int(bad.sum()), 'prediction')} with NaN, +inf or no finite logit; first "
            f"{logits[first].tolist()} at index {first}"
        )
    return logits


def prediction(logits: npt.ArrayLike) -> Integers:
    """Return the 0-based option with the largest logit, int64[...]; ties go to the lower index (section 3).

    ``logits``: float[..., K]; raises ValueError as :func:`as_logits` does.
    """
    return np.asarray(as_logits(logits).argmax(axis=-1), dtype=np.int64)


def logit_blocks(predictions: pl.DataFrame) -> Iterator[tuple[Integers, Floats]]:
    """Yield (row numbers int64[n], logits float64[n, K]) for every number of options K in ``predictions``.

    ``predictions`` has the columns id, corruption, severity, logits (list). Every row is in exactly one
    block; blocks are in ascending order of K. Raises InputError naming the first prediction whose logits are
    missing, fewer than two, or refused by :func:`as_logits`.
    """
    counts = predictions["logits"].list.len().fill_null(0).to_numpy()
    for count in np.unique(counts):
        rows = np.flatnonzero(counts == count).astype(np.int64)
        if count < 2:
            raise InputError(
                f"{pluralize(len(rows), 'prediction')} with fewer than two logits; first "
                f"{name_of(predictions, int(rows[0]))}: every item needs at least two options; rerun the "
                "inference"
            )
        values = predictions["logits"].gather(rows).explode().cast(pl.Float64).fill_null(np.nan).to_numpy()
        block = values.reshape(len(rows), int(count))
        bad = ~np.isfinite(block.max(axis=1))  # as in as_logits
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise InputError(
                f"{pluralize(int(bad.sum()), 'prediction')} with NaN, +inf or no finite logit; first "
                f"{name_of(predictions, int(rows[row]))} with {block[row].tolist()}: check how its model "
                "scores it, then rerun its inference"
            )
        yield rows, block


def name_of(predictions: pl.DataFrame, row: int) -> str:
    """Return "(id, corruption, severity)" of one row, for messages."""
    return "({}, {}, {})".format(*predictions.select("id", "corruption", "severity").row(row))


def first_names(predictions: pl.DataFrame) -> str:
    """Return the names of the first few predictions, by id, corruption and severity, for messages."""
    named = predictions.sort("id", "corruption", "severity").head(NAMED)
    names = ", ".join(name_of(named, row) for row in range(named.height))
    return f"{names}{', …' if predictions.height > NAMED else ''}"
