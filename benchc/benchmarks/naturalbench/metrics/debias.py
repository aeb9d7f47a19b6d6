"""Readings of the probabilities of two answers: thresholds tau, chosen beforehand or from the data.

The model predicts option 0 where P(option 0) - P(option 1) > tau, else option 1 (paper, eq. 2 and 4). The
difference is called d here; ``truth`` is the right option of each question about each image, 0 or 1, which
alternates.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchc.benchmarks.naturalbench.metrics.groups import Bools, Floats
from benchc.randomness import seed_of

Integers = npt.NDArray[np.int64]

LEAST, MOST = -1.0, 1.0  # of tau, as of d


class Tau(NamedTuple):
    """A threshold, and the interval [low, high) of all that are as good, with ``right`` groups right."""

    tau: float
    low: float
    high: float
    right: int


def letter_difference(logits: Floats, label_mass: Floats) -> Floats:
    """Return d, float64[...] in [-1, 1], from the logits of two labels and their total probability.

    ``logits``: float[..., 2], one of the two may be -inf; ``label_mass``: float[...] in [0, 1]. It is
    label_mass times the difference of the softmax over the two labels, so that probabilities of different
    images are compared as they are, not renormalised.
    """
    # The difference of a softmax over two; no rounding makes two small differences equal.
    return np.asarray(label_mass * np.tanh((logits[..., 0] - logits[..., 1]) / 2), dtype=np.float64)


def text_difference(log_likelihoods: Floats) -> Floats:
    """Return d, float64[...] in [-1, 1], from the log-likelihoods of two texts, float[..., 2], at most 0."""
    probabilities = np.exp(log_likelihoods)
    return np.asarray(probabilities[..., 0] - probabilities[..., 1], dtype=np.float64)


def predicted(differences: Floats, tau: float | Floats = 0.0) -> Integers:
    """Return the predicted option, 0 or 1, of each d; a d that is equal to tau is option 1 (eq. 2)."""
    return np.where(differences > tau, 0, 1).astype(np.int64)


def sample_outcomes(differences: Floats, truth: Integers) -> Bools:
    """Return which questions, images and groups the best tau of each makes right, bool[groups, 5].

    Columns are ``OUTCOMES``; both arguments are [groups, 2 questions, 2 images]. A question is right for some
    tau exactly where d is larger for the image whose answer is option 0; an image likewise for its two
    questions; and a group where both d of option 0 are larger than both of option 1. There is no tau for
    equal d, which is wrong.
    """
    is_zero = truth == 0
    one, other = differences[:, :, 0], differences[:, :, 1]
    questions = np.where(is_zero[:, :, 0], one > other, one < other)
    one, other = differences[:, 0], differences[:, 1]
    images = np.where(is_zero[:, 0], one > other, one < other)
    low, high = bounds(differences, truth)
    return np.concatenate([questions, images, (high > low)[:, None]], axis=1)


def bounds(differences: Floats, truth: Integers) -> tuple[Floats, Floats]:
    """Return low and high of each group, which is right exactly for tau in [low, high); empty if low >= high.

    ``low``, the largest d of an answer that is option 1, and ``high``, the smallest of option 0: float64
    [groups].
    """
    is_zero = truth == 0
    low = np.where(is_zero, -np.inf, differences).max(axis=(1, 2))
    high = np.where(is_zero, differences, np.inf).min(axis=(1, 2))
    return low, high


def best_tau(low: Floats, high: Floats) -> Tau:
    """Return the tau in [-1, 1] for which most groups are right; ``low`` and ``high`` as from `bounds`.

    Of several best intervals it is the one nearest 0 (of two as near, the positive one, which contains its
    nearer end); tau is 0 if that contains it, else its midpoint. One sort: O(N log N). Without a group that
    can be right, tau is 0.
    """
    exists = low < high
    starts, ends = np.sort(low[exists]), np.sort(high[exists])
    edges = np.unique(np.clip(np.concatenate([[LEAST, MOST], starts, ends]), LEAST, MOST))
    begun = np.searchsorted(starts, edges[:-1], side="right")
    ended = np.searchsorted(ends, edges[:-1], side="right")
    counts = begun - ended  # of tau in [edges[k], edges[k + 1])
    most = int(counts.max())
    is_best = np.concatenate([[False], counts == most, [False]])
    # Where one group begins to be right as another ends to be, both sides are one interval.
    firsts = np.flatnonzero(is_best[1:-1] & ~is_best[:-2])
    lasts = np.flatnonzero(is_best[1:-1] & ~is_best[2:])
    found = [
        _nearest(float(edges[first]), float(edges[last + 1]))
        for first, last in zip(firsts, lasts, strict=True)
    ]
    _, tau, first, last = min(found, key=lambda interval: (interval[0], -interval[1]))
    return Tau(tau, first, last, most)


def _nearest(low: float, high: float) -> tuple[float, float, float, float]:
    """Return the distance of [low, high) from 0, its tau, low and high."""
    if low <= 0 < high:
        return 0.0, 0.0, low, high
    middle = low + (high - low) / 2
    # Between two neighbouring numbers the midpoint is rounded, maybe to the excluded end.
    return max(low, -high), middle if middle < high else low, low, high


def halves(groups: Sequence[str]) -> Integers:
    """Return the half of each group, 0 or 1, by a hash of its id; their sizes differ by at most one."""
    order = sorted(range(len(groups)), key=lambda number: (seed_of("half", groups[number]), groups[number]))
    found = np.empty(len(groups), dtype=np.int64)
    found[order] = np.arange(len(groups)) % 2
    return found


def post_hoc(differences: Floats, prior: Floats) -> Integers:
    """Return the predicted option after post-hoc debiasing (eq. 5), int64[groups, 2 questions, 2 images].

    Option 0 where P(0 | q, i) / P(0 | q) > P(1 | q, i) / P(1 | q), in logarithms. ``differences``:
    log P(0 | q, i) - log P(1 | q, i), finite; ``prior``: log P(0 | q) - log P(1 | q), float[groups, 2
    questions].
    """
    return predicted(differences, prior[:, :, None])
