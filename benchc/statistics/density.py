"""The density of a sample."""

import numpy as np

from benchc.statistics.resampling import Floats


def density(values: Floats, grid: Floats) -> Floats:
    """Return the density of ``values`` at ``grid``, a sum of normal densities.

    Their deviation is Silverman's, 0.9 times the smaller of the standard deviation and the interquartile
    range over 1.34, times n to the power of -1/5 (Silverman 1986, equation 3.31), and at least the distance
    of two points of the grid.
    """
    spread = float(values.std())
    quartiles = np.quantile(values, [0.25, 0.75])
    narrow = float(quartiles[1] - quartiles[0]) / 1.34
    width = 0.9 * min(spread, narrow or spread) * len(values) ** -0.2
    width = max(width, float(grid[1] - grid[0]))
    distances = (grid[:, None] - values[None, :]) / width
    return np.asarray(np.exp(-(distances**2) / 2).mean(axis=1) / (width * np.sqrt(2 * np.pi)))
