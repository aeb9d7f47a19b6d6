"""Figure 3: a map of scenarios by their features, and numbers for what it shows."""

from collections.abc import Sequence

import numpy as np
from sklearn.manifold import TSNE
from sklearn.metrics import silhouette_score
from threadpoolctl import threadpool_limits

from benchc.statistics.resampling import Floats


def scenario_map(features: Floats, perplexity: float, seed: int) -> Floats:
    """Return a t-SNE of float64[scenarios, d] in two dimensions, float64[scenarios, 2].

    It starts from principal components; equal scenarios are all at 0. The perplexity is at most a third of
    the other points. One thread and exact gradients give the same bits on one machine.
    """
    if not np.ptp(features, axis=0).any():
        return np.zeros((len(features), 2))
    most = max((len(features) - 1) / 3, 1)
    with threadpool_limits(1):
        found = TSNE(
            perplexity=min(perplexity, most), init="pca", random_state=seed, method="exact"
        ).fit_transform(features)
    return np.asarray(found, np.float64)


def silhouette(points: Floats, groups: Sequence[str]) -> float:
    """Return the mean silhouette of groups of points, in [-1, 1]; NaN where there are fewer than two."""
    if not 2 <= len({*groups}) < len(groups):
        return float("nan")
    return float(silhouette_score(points, groups))


def distances(points: Floats, clean: Floats) -> Floats:
    """Return the Euclidean distance of each of float64[points, d] from that of clean pictures."""
    return np.asarray(np.linalg.norm(points - clean, axis=1))
