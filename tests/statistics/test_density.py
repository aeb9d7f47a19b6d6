import numpy as np
import pytest
from scipy.stats import gaussian_kde, norm

from benchc.statistics.density import density


def test_the_density_is_that_of_scipy_with_silvermans_width():
    values = np.random.default_rng(2).gamma(2.0, 3.0, 80)
    grid = np.linspace(-5, 40, 400)
    quartiles = np.quantile(values, [0.25, 0.75])
    width = 0.9 * min(values.std(), (quartiles[1] - quartiles[0]) / 1.34) * 80 ** (-1 / 5)
    expected = gaussian_kde(values, width / values.std(ddof=1))(grid)
    np.testing.assert_allclose(density(values, grid), expected, rtol=1e-9)
    assert np.trapezoid(density(values, grid), grid) == pytest.approx(1, abs=1e-3)
    # A sample whose quartiles are equal has the width of its deviation.
    values, grid = np.array([2.0] * 9 + [8.0]), np.linspace(1, 9, 401)
    width = 0.9 * values.std() * 10 ** (-1 / 5)
    expected = gaussian_kde(values, width / values.std(ddof=1))(grid)
    np.testing.assert_allclose(density(values, grid), expected, rtol=1e-9)
    # One value has the width of a step of the grid.
    grid = np.linspace(1, 7, 61)
    found = density(np.array([3.0]), grid)
    np.testing.assert_allclose(found, norm.pdf(grid, 3, 0.1), rtol=1e-9)
    one = density(np.array([3.0]), np.linspace(0, 6, 61))
    assert np.isfinite(one).all() and one.argmax() == 30
