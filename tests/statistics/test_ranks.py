import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from benchc.statistics.ranks import rank_shares, ranks


def test_ranks_count_the_lower_values_and_rounding_errors_are_no_difference() -> None:
    assert ranks(np.array([0.3, 0.1, np.nan, 0.2])).tolist() == [3, 1, 0, 2]
    # At the boundary of two roundings to 9 decimals.
    assert ranks(np.array([0.4916015625, 0.49160156250000003, 0.3])).tolist() == [2, 2, 1]
    assert ranks(np.array([0.1 + 0.2, 0.3, 0.4, 0.3 + 1e-8])).tolist() == [1, 1, 4, 3]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=9))
def test_ranks_are_those_of_scipy(values: list[int]) -> None:
    array = np.array(values, dtype=float)
    assert ranks(array).tolist() == rankdata(array, method="min").astype(int).tolist()


def test_shares_are_of_the_resamples() -> None:
    assert rank_shares(np.array([[1.0, 2.0]])).tolist() == [[1, 0], [0, 1]]
    draws = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0], [3.0, 4.0]])
    assert rank_shares(draws).tolist() == [[3 / 4, 1 / 4], [1 / 2, 1 / 2]]
    assert rank_shares(draws[:0]).tolist() == [[0, 0]] * 2
