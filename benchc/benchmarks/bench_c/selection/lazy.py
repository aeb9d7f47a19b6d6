"""Compiled greedy selection that recomputes a score only where a bound shows that it may matter.

Against a unit centroid u a row of unit vector z scores at most ‖u − u'‖ per modality more than it did against
an earlier u', for |z·(u − u')| ≤ ‖u − u'‖. Two such bounds are kept. Across epochs: the distance to the
centroid at the start of the epoch in which a row was last scored, which is short, since picks pull in many
directions. Within an epoch: the length of the centroid's path since its start, which needs no second score.
Where bounds would prune little, the epoch is a sweep instead: one pass over all rows, in order.

Bounds are widened by more than all rounding errors, so that scores alone decide between rows.
"""

from heapq import heappop, heappush
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Rows = tuple[npt.NDArray[Any], ...]  # by modality, float32 or float64 [N, d]
Lengths = tuple[Floats, ...]  # by modality, [N]

EPSILON = 2.0**-52
# Length of an epoch as a share of all picks so far, tuned: longer ones sort less, shorter ones prune more.
EPOCH_SHARE = 0.05
SWEEP_SHARE = 0.125  # of the remaining rows: above it, one pass in order is faster than random access
CENTROIDS = 512  # epochs after which a sweep discards the old centroids


@njit(cache=True, nogil=True)
def dot(row: npt.NDArray[Any], other: Floats, space: Floats) -> float:
    """Return the float64 dot product: the upper half of the products is added to the lower until one is left.

    ``space``: at least half as many float64 as ``row`` has values. Halves of an odd number: the middle one
    stays in the lower. The order of summation depends only on the number of
    values; summing in a tree keeps rounding errors small.
    """
    size = row.size
    if size == 0:
        return 0.0
    half = (size + 1) // 2
    upper, others = row[half:], other[half:]
    for index in range(size - half):
        space[index] = row[index] * other[index] + upper[index] * others[index]
    if size % 2:
        space[half - 1] = row[half - 1] * other[half - 1]
    while half > 1:
        size = half
        half = (size + 1) // 2
        tail = space[half:size]
        for index in range(size - half):
            space[index] += tail[index]
    return float(space[0])


@njit(cache=True, nogil=True)
def squared_lengths(rows: npt.NDArray[Any]) -> Floats:
    """Return float64[N], the sum of squares of every row, in the order of :func:`dot`."""
    result = np.empty(len(rows))
    size = rows.shape[1]
    space = np.empty(size)
    copy = np.empty(size)
    for row in range(len(rows)):
        copy[:] = rows[row]
        result[row] = dot(rows[row], copy, space)
    return result


@njit(cache=True, nogil=True)
def set_direction(total: Floats, starts: Integers, space: Floats, result: Floats) -> None:
    """Write each modality's part of ``total`` at length 1, or zeros where it is zero, to ``result``."""
    for modality in range(len(starts) - 1):
        part = total[starts[modality] : starts[modality + 1]]
        length = np.sqrt(dot(part, part, space))
        for index in range(part.size):
            result[starts[modality] + index] = part[index] / length if length > 0 else 0.0


@njit(cache=True, nogil=True)
def add_pick(row: int, vectors: Rows, starts: Integers, total: Floats, space: Floats, result: Floats) -> None:
    """Add the picked row's vectors to ``total``, and write its direction to ``result``."""
    for modality in range(len(vectors)):
        part = total[starts[modality] : starts[modality + 1]]
        part += vectors[modality][row]
    set_direction(total, starts, space, result)


@njit(cache=True, nogil=True)
def row_score(
    row: int,
    weighted_kappa: Floats,
    weight: float,
    vectors: Rows,
    lengths: Lengths,
    centroid: Floats,
    starts: Integers,
    space: Floats,
) -> float:
    """Return ``weighted_kappa + weight · D_s`` of a row: the bracket of eq. 3, D_s by eq. 12 and 13."""
    similarity = 0.0
    for modality in range(len(vectors)):
        part = centroid[starts[modality] : starts[modality + 1]]
        similarity += dot(vectors[modality][row], part, space) / lengths[modality][row]
    return float(weighted_kappa[row] + weight * (len(vectors) - similarity))


@njit(cache=True, nogil=True)
def all_scores(
    weighted_kappa: Floats, weight: float, vectors: Rows, lengths: Lengths, centroid: Floats, starts: Integers
) -> Floats:
    """Return :func:`row_score` of every row, float64[N]."""
    result = np.empty(len(weighted_kappa))
    space = np.empty(centroid.size)
    for row in range(len(weighted_kappa)):
        result[row] = row_score(row, weighted_kappa, weight, vectors, lengths, centroid, starts, space)
    return result


@njit(cache=True, nogil=True)
def distance(one: Floats, other: Floats, starts: Integers) -> float:
    """Return the Euclidean distances of two centroids, summed over modalities."""
    result = 0.0
    for modality in range(len(starts) - 1):
        squares = 0.0
        for index in range(starts[modality], starts[modality + 1]):
            squares += (one[index] - other[index]) ** 2
        result += np.sqrt(squares)
    return result


@njit(cache=True, nogil=True)
def pick_all(
    weighted_kappa: Floats, weight: float, vectors: Rows, lengths: Lengths, starts: Integers
) -> tuple[Integers, Floats, int]:
    """Return the rows in the order of picking, their scores by row, and how many scores were computed.

    ``weighted_kappa``: alpha[0]·κ, float64[N]; ``weight``: alpha[1]; ``lengths``: of the vectors, 1 where a
    vector is zero; ``starts``: int64[M + 1], where each modality's values start in a centroid.
    """
    count, size = len(weighted_kappa), starts[-1]
    order, final = np.empty(count, np.int64), np.empty(count)
    total, centroid, now, space = np.zeros(size), np.zeros(size), np.zeros(size), np.empty(size)
    old = np.zeros((CENTROIDS, size))  # the centroids at the starts of epochs
    epochs = 0
    # What a row scored against old[scored[row]]; nothing is picked yet, and all cosines are 0.
    score = weighted_kappa + weight * len(vectors)
    scored = np.zeros(count, np.int64)
    alive: npt.NDArray[Any] = np.arange(count)
    picked = np.zeros(count, np.bool_)
    bound = np.empty(count)
    drift = abs(weight)
    # A score errs by less than its terms times this, a distance by less than itself times this.
    error = 8 * EPSILON * (size + 64)
    largest = 0.0
    for row in range(count):
        largest = max(largest, abs(weighted_kappa[row]))
    slack = error * (largest + 4 * drift * (len(vectors) + 1))
    computed = step = 0
    waiting = [(0.0, 0)]  # a heap of (−score + path so far, row)
    tried = [(0.0, 0)]
    while step < count:
        alive = alive[~picked[alive]]
        # Bounds at the start of the epoch: many rows above the lower bound of the best make it a sweep.
        away = np.zeros(epochs + 1)
        for epoch in range(epochs):
            away[epoch] = drift * distance(old[epoch], centroid, starts)
        floor = -np.inf
        for row in alive:
            bound[row] = score[row] + away[scored[row]]
            floor = max(floor, score[row] - away[scored[row]])
        above = 0
        for row in alive:
            above += bound[row] >= floor - 2 * slack
        if epochs == CENTROIDS or (step > 0 and above > SWEEP_SHARE * len(alive)):
            epochs = 1
            old[0] = centroid
            best = alive[0]
            for row in alive:
                score[row] = row_score(row, weighted_kappa, weight, vectors, lengths, centroid, starts, space)
                scored[row] = 0
                if score[row] > score[best]:
                    best = row
            computed += len(alive)
            order[step], final[best], picked[best] = best, score[best], True
            step += 1
            add_pick(best, vectors, starts, total, space, centroid)
            continue
        old[epochs] = centroid
        ranked = alive[np.argsort(-bound[alive])]
        following = 0
        path = 0.0
        waiting.clear()
        for picks in range(max(1, int(EPOCH_SHARE * step))):
            if step == count:
                break
            here = drift * distance(centroid, old[epochs], starts)
            margin = slack + error * (here + 4 * drift) + 4 * EPSILON * (picks + size) * path
            best, highest = -1, -np.inf
            tried.clear()
            before = computed
            while True:
                if len(waiting) and path - waiting[0][0] >= highest - margin:
                    row = heappop(waiting)[1]
                    value = score[row] + here
                    if value < highest - margin:  # the other bound rules it out without a new score
                        tried.append((value, row))
                        continue
                elif following < len(ranked) and bound[ranked[following]] + here >= highest - margin:
                    row = ranked[following]
                    following += 1
                    if scored[row] != epochs:
                        scored[row] = epochs
                        score[row] = row_score(
                            row, weighted_kappa, weight, vectors, lengths, old[epochs], starts, space
                        )
                else:
                    break
                value = row_score(row, weighted_kappa, weight, vectors, lengths, centroid, starts, space)
                computed += 1
                tried.append((value, row))
                if value > highest or (value == highest and row < best):
                    best, highest = row, value
            for value, row in tried:
                if row != best:
                    heappush(waiting, (path - value, row))
            order[step], final[best], picked[best] = best, highest, True
            step += 1
            add_pick(best, vectors, starts, total, space, now)
            path += drift * distance(now, centroid, starts)
            centroid[:] = now
            if computed - before > SWEEP_SHARE * (count - step):
                break
        epochs += 1
    return order, final, computed
