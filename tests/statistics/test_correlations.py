import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import spearmanr

from benchc.statistics.correlations import components, spearman

QUARTERS = arrays(np.float64, (6, 4), elements=st.integers(0, 4).map(lambda value: value / 4))


@settings(max_examples=60)
@given(QUARTERS)
@pytest.mark.filterwarnings("ignore:An input array is constant")
def test_rank_correlations_are_those_of_scipy_also_with_ties(values):
    expected = [[spearmanr(one, other).statistic for other in values.T] for one in values.T]
    np.testing.assert_allclose(spearman(values), expected, atol=1e-12)
    assert not (np.abs(spearman(np.hstack([values, -values]))) > 1).any()


def test_what_is_constant_or_incomplete_has_no_correlations_and_no_components():
    values = np.array([[1.0, 5, 2], [2, 5, 4], [3, 5, np.nan], [4, 5, 8]])
    found = spearman(values)
    assert found[0, 0] == pytest.approx(1) and np.isnan(found[1]).all() and np.isnan(found[2]).all()
    equal = components(np.full((5, 3), 0.5))
    assert not equal.scores.any() and not equal.shares.any()


def test_components_of_points_on_a_line():
    # Rows are (t, 2 t, 0): one component, along (1, 2, 0), of which the largest loading is the second.
    line = np.array([3.0, -1.0, -2.0])
    found = components(np.outer(line, [1, 2, 0]) + np.array([7, -3, 5]))
    np.testing.assert_allclose(found.scores[:, 0], line * np.sqrt(5), atol=1e-12)
    np.testing.assert_allclose(found.scores[:, 1], 0, atol=1e-12)
    np.testing.assert_allclose(found.shares, [1, 0], atol=1e-12)
    # The sign follows the largest loading, not the first one.
    turned = components(np.outer(line, [1, -2, 0]))
    np.testing.assert_allclose(turned.scores[:, 0], -line * np.sqrt(5), atol=1e-12)


@settings(max_examples=40)
@given(arrays(np.float64, (7, 4), elements=st.floats(0, 1)))
def test_components_are_the_directions_of_largest_variance(values):
    found = components(values)
    largest = np.linalg.eigvalsh(np.cov(values.T))[::-1][:2]
    np.testing.assert_allclose(found.scores.var(axis=0, ddof=1), largest, atol=1e-9)
    total = values.var(axis=0, ddof=1).sum()
    if total > 1e-9:
        np.testing.assert_allclose(found.shares, largest / total, atol=1e-7)
    centred = values - values.mean(axis=0)
    for scores, share in zip(found.scores.T, found.shares, strict=True):
        loadings = centred.T @ scores / max((scores**2).sum(), 1e-300)
        smaller, larger = np.sort(np.abs(loadings))[-2:]
        if share > 1e-6 and larger - smaller > 1e-6:
            assert loadings[np.abs(loadings).argmax()] > 0
