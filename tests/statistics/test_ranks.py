"""Ranks and their shares, by hand."""

import numpy as np

from benchc.statistics.ranks import rank_shares, ranks


def test_ranks_count_the_lower_values() -> None:
    assert ranks(np.array([0.3, 0.1, np.nan, 0.2])).tolist() == [3, 1, 0, 2]


def test_values_that_differ_by_rounding_errors_share_a_rank() -> None:
    assert ranks(np.array([0.1 + 0.2, 0.3, 0.4, 0.3 + 1e-8])).tolist() == [1, 1, 4, 3]


def test_shares_are_of_the_resamples() -> None:
    assert rank_shares(np.array([[1.0, 2.0]])).tolist() == [[1, 0], [0, 1]]
    draws = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0], [3.0, 4.0]])
    assert rank_shares(draws).tolist() == [[3 / 4, 1 / 4], [1 / 2, 1 / 2]]
