"""Greedy selection of items that are discriminative and unlike those already picked (Bench-C, eq. 3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Picked rows are dropped from the arrays once this share of them is picked: the copy is then paid for.
COMPACT_SHARE = 0.1


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
    modalities less the sum of the cosines with the plain mean of the vectors picked so far (eq. 12, 13; the
    paper's 2 is for image and text). Before the first pick, and where the vector or the mean is zero, a
    cosine is 0; so the first pick is the largest kappa. Equal scores go to the lower row.

    Exact: a row's score is its own float64 dot product with the unit centroid, added up in an order that
    depends neither on the row's position nor on the other rows, so permuting the rows permutes the result.
    Costs O(N²d) time and 8·N·Σd bytes. Raises ValueError for arrays of unequal length, for values that are
    not finite, and for kappa or embeddings of the wrong number of axes.
    """
    power, vectors, norms = _checked(kappa, embeddings, alpha)
    count = len(power)
    order = np.empty(count, dtype=np.int64)
    score = np.empty(count, dtype=np.float64)
    rows = np.arange(count, dtype=np.int64)
    picked = np.zeros(count, dtype=np.bool_)
    sums = [np.zeros(vector.shape[1]) for vector in vectors]
    for step in range(count):
        scores = _bracket(power, vectors, norms, sums, alpha)
        scores[picked] = -np.inf
        best = int(scores.argmax())  # the first of equal scores: rows stay in ascending order
        order[step] = rows[best]
        score[rows[best]] = scores[best]
        picked[best] = True
        for total, vector in zip(sums, vectors, strict=True):
            total += vector[best]
        if picked.sum() >= max(1.0, COMPACT_SHARE * len(picked)):
            rest = ~picked
            rows, power, picked = rows[rest], power[rest], picked[rest]
            vectors = [vector[rest] for vector in vectors]
            norms = [norm[rest] for norm in norms]
    return GreedySelection(order, score)


def scores_against_all(
    kappa: npt.ArrayLike,
    embeddings: Sequence[npt.ArrayLike],
    alpha: tuple[float, float] = (1.0, 1.0),
) -> Floats:
    """Return the bracket of eq. 3 of every row against the centroid of all N rows, float64[N].

    This is the other reading of the paper's "final score": what an item scores when selection has ended.
    Arguments, units and errors are those of :func:`greedy`.
    """
    power, vectors, norms = _checked(kappa, embeddings, alpha)
    return _bracket(power, vectors, norms, [vector.sum(axis=0) for vector in vectors], alpha)


def _bracket(
    power: Floats,
    vectors: Sequence[Floats],
    norms: Sequence[Floats],
    sums: Sequence[Floats],
    alpha: tuple[float, float],
) -> Floats:
    """Return alpha[0]·κ + alpha[1]·D_s; the sum of the picked vectors has the direction of their mean."""
    similarity = np.zeros(len(power))
    for vector, norm, total in zip(vectors, norms, sums, strict=True):
        length = np.sqrt(np.einsum("j,j->", total, total))
        if length > 0:
            # einsum adds up each contiguous row by itself. A BLAS product would not do: its blocking makes
            # the last digits depend on which rows are neighbours.
            similarity += np.einsum("ij,j->i", vector, total / length) / norm
    return alpha[0] * power + alpha[1] * (len(vectors) - similarity)


def _checked(
    kappa: npt.ArrayLike, embeddings: Sequence[npt.ArrayLike], alpha: tuple[float, float]
) -> tuple[Floats, list[Floats], list[Floats]]:
    """Return kappa, the vectors and their lengths as float64, 1 standing for the length of a zero vector."""
    power = np.array(kappa, dtype=np.float64)
    if power.ndim != 1 or not np.isfinite(power).all():
        raise ValueError(f"kappa must be finite numbers, one per item; it has the shape {power.shape}")
    if not np.isfinite(alpha).all():
        raise ValueError(f"alpha must be two finite numbers, not {alpha}")
    vectors, norms = [], []
    for number, embedding in enumerate(embeddings):
        vector = np.ascontiguousarray(embedding, dtype=np.float64)
        if vector.ndim != 2 or len(vector) != len(power):
            raise ValueError(
                f"embeddings[{number}] must be one vector for each of the {len(power)} items; its shape is "
                f"{vector.shape}"
            )
        bad = np.flatnonzero(~np.isfinite(vector).all(axis=1))
        if len(bad):
            raise ValueError(f"embeddings[{number}] holds NaN or infinity, first in row {bad[0]}")
        norm = np.sqrt(np.einsum("ij,ij->i", vector, vector))
        vectors.append(vector)
        norms.append(np.where(norm > 0, norm, 1.0))
    return power, vectors, norms
