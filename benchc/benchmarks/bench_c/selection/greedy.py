"""Greedy selection of items that are discriminative and unlike those already picked (Bench-C, eq. 3)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchc.benchmarks.bench_c.selection.lazy import (
    Lengths,
    Rows,
    all_scores,
    pick_all,
    set_direction,
    squared_lengths,
)

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Squares of longer or shorter vectors leave the range of float64.
SHORTEST, LONGEST = 1e-100, 1e100


@dataclass(frozen=True)
class GreedySelection:
    """What :func:`greedy` found for N items."""

    order: Integers  # int64[N]: rows in the order in which they were picked
    score: Floats  # float64[N], by ROW: score[i] is the bracket of eq. 3 when row i was picked


def greedy(
    kappa: npt.ArrayLike,
    embeddings: Sequence[npt.ArrayLike],
    alpha: tuple[float, float] = (1.0, 1.0),
) -> GreedySelection:
    """Pick every item once, each time the one with the largest alpha[0]·κ + alpha[1]·D_s (eq. 3).

    ``kappa``: float[N]; ``embeddings``: one array float[N, d] per modality, of any d. D_s is the number of
    modalities less the sum of the cosines with the unweighted mean of the vectors picked so far (eq. 12, 13;
    the paper's 2 is for image and text). Before the first pick, and where the vector or the mean is zero, a
    cosine is 0; so the first pick is the largest kappa. Equal scores go to the lower row.

    Exact: a row's score is its own float64 dot product with the unit centroid, summed in an order that
    depends neither on the row's position nor on the other rows, so permuting the rows permutes the result.
    The result is that of computing all scores at every step, O(N²d); bounds save most of that where vectors
    are similar, as real ones are (:mod:`selection.lazy`). Float32 vectors are not copied, so that memory is
    about 100·N bytes; others become float64.

    Raises ValueError for arrays of unequal length, for values that are not finite, vectors too long or short
    to be squared, weights or kappas above 1e100, and for kappa or embeddings of the wrong number of axes.
    """
    weighted_kappa, vectors, lengths, starts = _checked(kappa, embeddings, alpha)
    if alpha[1] == 0 or not vectors:  # scores never change, and equal ones would be compared at every step
        order = np.lexsort((np.arange(len(weighted_kappa)), -weighted_kappa)).astype(np.int64)
        return GreedySelection(order, weighted_kappa + alpha[1] * len(vectors))
    order, score, _ = pick_all(weighted_kappa, float(alpha[1]), vectors, lengths, starts)
    return GreedySelection(order, score)


def scores_against_all(
    kappa: npt.ArrayLike,
    embeddings: Sequence[npt.ArrayLike],
    alpha: tuple[float, float] = (1.0, 1.0),
) -> Floats:
    """Return the bracket of eq. 3 of every row against the centroid of all N rows, float64[N].

    The other interpretation of the paper's "final score": an item's score when selection has ended. The
    centroid is summed exactly, so that it does not depend on the rows' order. Arguments and errors are those
    of :func:`greedy`.
    """
    weighted_kappa, vectors, lengths, starts = _checked(kappa, embeddings, alpha)
    total = np.array([math.fsum(column.tolist()) for vector in vectors for column in vector.T])
    centroid = np.zeros(len(total))
    set_direction(total, starts, np.empty(len(total)), centroid)
    return all_scores(weighted_kappa, float(alpha[1]), vectors, lengths, centroid, starts)


def _checked(
    kappa: npt.ArrayLike, embeddings: Sequence[npt.ArrayLike], alpha: tuple[float, float]
) -> tuple[Floats, Rows, Lengths, Integers]:
    """Return alpha[0]·κ, the vectors, their lengths (1 for a zero vector), and their starts in a centroid."""
    values = np.array(kappa, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ValueError(f"kappa must be finite numbers, one per item; it has the shape {values.shape}")
    if not np.isfinite(alpha).all():
        raise ValueError(f"alpha must be two finite numbers, not {alpha}")
    if np.abs([*alpha, *alpha[0] * values]).max() > LONGEST:
        raise ValueError(f"alpha {alpha} and alpha[0] * kappa must not exceed {LONGEST}; scale them")
    arrays = [np.asarray(embedding) for embedding in embeddings]
    # Float32 values are exact in float64 and take half the memory.
    dtype = np.float32 if all(array.dtype == np.float32 for array in arrays) else np.float64
    vectors, lengths = [], []
    for number, array in enumerate(arrays):
        vector = np.ascontiguousarray(array, dtype=dtype)
        if array.ndim != 2 or len(vector) != len(values):
            raise ValueError(
                f"embeddings[{number}] must be one vector for each of the {len(values)} items; its shape is "
                f"{array.shape}"
            )
        # numba compiles twice where some arrays may be written to and others not.
        vector = vector.view()
        vector.flags.writeable = False
        vectors.append(vector)
        lengths.append(_lengths(vector, number))
    starts = np.cumsum([0, *(vector.shape[1] for vector in vectors)], dtype=np.int64)
    return alpha[0] * values, tuple(vectors), tuple(lengths), starts


def _lengths(vector: npt.NDArray[Any], number: int) -> Floats:
    length = np.sqrt(squared_lengths(vector))
    zero = length == 0
    bad = np.flatnonzero(~np.isfinite(length) | (length > LONGEST) | (length < SHORTEST))
    for row in bad:
        if not np.isfinite(vector[row]).all():
            raise ValueError(f"embeddings[{number}] contains NaN or infinity, first in row {row}")
        if vector[row].any():
            raise ValueError(
                f"embeddings[{number}] has a vector of length {length[row]} in row {row}: scale all of them "
                f"to lengths between {SHORTEST} and {LONGEST}, or to zero"
            )
    return np.where(zero, 1.0, length)
