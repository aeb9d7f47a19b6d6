"""Accuracies of capabilities in resamples of the pictures, capability by capability."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from benchc.randomness import generator_of
from benchc.statistics.resampling import Floats, drawn_means, on_grid

Integers = npt.NDArray[np.int64]


def capability_draws(
    values: Floats | npt.NDArray[np.bool_],
    capability: Integers,
    picture: Integers,
    names: Sequence[str],
    draws: int,
    seed: int,
) -> Iterator[Floats]:
    """Yield for each capability its means in the sample and in resamples, float64[1 + draws, columns].

    Questions about one picture are drawn together (a cluster bootstrap). Each capability is resampled for
    itself, so that its number of pictures is that of the sample, and depends only on ``seed`` and its name.
    Row 0 is the sample itself.

    Args:
        values: [items, columns], such as whether each scenario is right; no NaN.
        capability: int64[items], index into ``names``; -1 for items outside all.
        picture: int64[items].
        names: of the capabilities.
        draws: number of resamples; all columns have the same.
        seed: of the resamples.
    """
    for number, name in enumerate(names):
        rows = np.flatnonzero(capability == number)
        pictures, own = np.unique(picture[rows], return_inverse=True)
        inside = np.asarray(values[rows], np.float64)
        sums = np.zeros((len(pictures), inside.shape[1]))
        np.add.at(sums, own, inside)
        sizes = np.bincount(own, minlength=len(pictures)).astype(np.float64)
        most = len(pictures) * int(sizes.max(initial=1))
        yield drawn_means(cluster_counts(len(pictures), draws, seed, name), on_grid(sums, most), sizes)


def cluster_counts(clusters: int, draws: int, seed: int, name: str) -> Floats:
    """Return how often each cluster is drawn, float64[1 + draws, clusters]; row 0 is the sample, all ones.

    More draws extend fewer.
    """
    counts = np.ones((1 + draws, clusters))
    # One generator for all draws: 34 capabilities of 2,000 draws would take 10 s to seed.
    generator = generator_of(seed, "bootstrap", name)
    for draw in range(1, 1 + draws):
        counts[draw] = np.bincount(generator.integers(clusters, size=clusters), minlength=clusters)
    return counts
