"""Text, image and group score of image-text retrieval on pairs (paper, Table 7; Winoground's scores)."""

import numpy as np
import numpy.typing as npt

from benchc.benchmarks.naturalbench.curation.mismatch import EncoderVectors
from benchc.benchmarks.naturalbench.curation.scan import similarities
from benchc.statistics.resampling import drawn_means, item_counts, percentile_interval

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

SCORES = ("text", "image", "group")
# Of a random ranking. Of the 24 orders of four similarities, those with both right ones on top: 4.
CHANCE = {"text": 1 / 4, "image": 1 / 4, "group": 1 / 6}


def retrieved(s00: Floats, s11: Floats, s01: Floats, s10: Floats) -> Flags:
    """Return whether text, image and group of each pair are right, bool[N, 3].

    Arguments are the similarities of images and captions, float64[N]: ``s01`` is that of image 0 and caption
    1. Text: each image is more similar to its own caption; image: each caption to its own image; group: both.
    A tie is wrong.
    """
    text = (s00 > s01) & (s11 > s10)
    image = (s00 > s10) & (s11 > s01)
    return np.stack([text, image, text & image], axis=1)


def retrieved_by(encoder: EncoderVectors, first: Indices, second: Indices) -> Flags:
    """Return :func:`retrieved` for pairs of an encoder's rows: ``first`` has image and caption 0."""

    def found(images: Indices, texts: Indices) -> Floats:
        return similarities(encoder.images, encoder.texts, images, texts)

    return retrieved(found(first, first), found(second, second), found(first, second), found(second, first))


def scores(right: Flags, draws: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Return the share of right pairs by score, and the ends of its 95 % interval over pairs, float64[3]."""
    counts = item_counts(len(right), draws, seed)
    means = drawn_means(counts, right.astype(np.float64), np.ones(len(right)))
    low, high = percentile_interval(means[1:])
    return means[0], low, high
