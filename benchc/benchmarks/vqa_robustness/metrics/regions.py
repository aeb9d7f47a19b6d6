"""In which part of the space of weights each model is the most robust."""

import numpy as np

from benchc.benchmarks.vqa_robustness.metrics.severity import Floats
from benchc.randomness import generator_of

SAMPLES = 100_000  # the standard error of a share is at most 0.0016
SEED = 0


def winning_shares(model_parts: Floats) -> Floats:
    """Return the share of the weight space in which each model has the lowest VRE.

    ``model_parts``: float[5, models], the scaled metrics that VRE weights. The weight space is all weights of
    at least 0 with the sum 1, every part of it of equal importance; it is sampled uniformly (a Dirichlet
    distribution with parameters of 1). Models with equal VRE share a sample. NaN for a model with NaN.
    """
    weights = generator_of(SEED, "weights").dirichlet(np.ones(len(model_parts)), size=SAMPLES)
    shares = np.full(model_parts.shape[1], np.nan)
    known = np.flatnonzero(~np.isnan(model_parts).any(axis=0))
    if len(known):
        found = weights @ model_parts[:, known]
        wins = found == found.min(axis=1, keepdims=True)
        shares[known] = (wins / wins.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares
