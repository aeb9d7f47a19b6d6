"""Resamples of groups."""

import time

import numpy as np
import pytest

from benchc.benchmarks.naturalbench.metrics.bootstrap import Resamples, estimates
from benchc.statistics.resampling import item_counts


def test_means_by_hand():
    values = np.array([[0.25, 1.0], [0.75, 0.0], [1.0, 0.0]])
    weights = np.array([[1.0, 2.0], [1.0, 0.0], [0.0, 1.0]])
    found = Resamples(3, 5, seed=1).means(values * weights, weights)
    counts = item_counts(3, 5, seed=1)
    for draw in range(6):
        for column in range(2):
            weight = counts[draw] * weights[:, column]
            expected = 100 * (weight * values[:, column]).sum() / weight.sum() if weight.sum() else np.nan
            np.testing.assert_allclose(found[draw, column], expected)
    assert found[0].tolist() == [50.0, pytest.approx(200 / 3)]


def test_one_group_has_a_value_and_no_interval():
    weights = np.array([[1.0, 1.0], [0.0, 1.0]])
    found = estimates(Resamples(2, 100, seed=0).means(weights * 0.5, weights)).columns("x")
    assert found["x"].to_list() == [50.0, 50.0]
    assert found["x_low"].to_list() == [None, 50.0] and found["x_high"].to_list() == [None, 50.0]
    alone = estimates(Resamples(1, 100, seed=0).means(np.ones((1, 1)))).columns("x")
    assert [alone[name][0] for name in alone] == [100.0, None, None]


def test_nothing_is_null_and_spoils_no_other_column():
    values = np.array([[np.nan, 0.5, 0.5], [np.nan, 1.0, 0.5]])
    weights = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    found = estimates(Resamples(2, 100, seed=0).means(values * weights, weights)).columns("x")
    assert [column.to_list() for column in found.values()] == [
        [None, 75.0, None],
        [None, 50.0, None],
        [None, 100.0, None],
    ]


def test_the_draws_are_the_same_for_all():
    values = np.random.default_rng(0).integers(0, 5, (30, 4)) / 4
    whole = Resamples(30, 200, seed=3).means(values)
    single = Resamples(30, 200, seed=3).means(values[:, [2]])
    assert (whole[:, [2]] == single).all()
    # Paired: a difference of equal columns is 0 in every draw.
    assert (whole[:, 1] - Resamples(30, 200, seed=3).means(values)[:, 1] == 0).all()
    assert (Resamples(30, 200, seed=4).means(values)[1:] != whole[1:]).any()


def test_intervals_of_an_accuracy_are_near_those_of_the_normal_distribution():
    right = (np.arange(1900) % 5 < 2)[:, None].astype(float)
    low, high = (end[0] for end in estimates(Resamples(1900, 2000, seed=0).means(right))[1:])
    error = 100 * np.sqrt(0.4 * 0.6 / 1900)
    assert low == pytest.approx(40 - 1.96 * error, abs=0.25)
    assert high == pytest.approx(40 + 1.96 * error, abs=0.25)


def test_the_paper_s_size_takes_seconds():
    """53 models, 1,900 groups and 2,000 draws: loops over models or draws would take minutes."""
    values = np.random.default_rng(0).integers(0, 5, (1900, 53 * 4)) / 4
    start = time.process_time()
    estimates(Resamples(1900, 2000, seed=0).means(values))
    assert time.process_time() - start < 30
