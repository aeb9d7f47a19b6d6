import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.statistics.resampling import drawn_means, item_counts, on_grid, percentile_interval

VALUES = st.lists(st.floats(-2, 1), min_size=1, max_size=30)


def test_counts_are_a_seeded_sample_of_the_same_size():
    counts = item_counts(50, 20, seed=3)
    assert (counts[0] == 1).all() and (counts.sum(axis=1) == 50).all() and (counts >= 0).all()
    assert (item_counts(50, 7, seed=3) == counts[:8]).all()  # more draws begin with the same ones
    assert (item_counts(50, 20, seed=4)[1:] != counts[1:]).any()
    assert len(np.unique(counts, axis=0)) == 21
    # Mean count 1 with variance 1 - 1/n in 4,000 draws: a deviation of 0.1 is over six standard errors.
    assert np.abs(item_counts(10, 4_000, seed=0)[1:].mean(axis=0) - 1).max() < 0.1


@given(VALUES, st.randoms())
def test_a_sum_on_the_grid_is_exact_in_any_order(values, random):
    gridded = on_grid(np.array(values), terms=len(values))
    assert np.abs(gridded - values).max() <= 2.0**-45
    shuffled = gridded.tolist()
    random.shuffle(shuffled)
    total = 0.0
    for value in shuffled:
        total += value
    assert total == math.fsum(gridded)


def test_the_grid_is_as_fine_as_52_bits_allow():
    # 5 terms of at most 3: 52 - 3 - 2 bits after the point.
    step = 2.0**-47
    values = np.array([3.0, step, 1.25 * step, 1.75 * step, -0.4 * step])
    assert on_grid(values, 5).tolist() == [3.0, step, step, 2 * step, 0.0]
    # The grid of small values is as much finer.
    small = on_grid(values * 2.0**-30, 5)
    assert small.tolist() == (on_grid(values, 5) * 2.0**-30).tolist()
    assert not np.signbit(small[-1])
    assert on_grid(np.zeros((0, 2)), 5).shape == (0, 2)


@given(st.integers(1, 25).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.integers(0, 99))))
def test_the_order_of_items_changes_no_bit_of_a_product(order_and_seed):
    order, seed = order_and_seed
    generator = np.random.default_rng(seed)
    items = len(order)
    weights = on_grid(generator.random(items), items)
    sums = on_grid(generator.uniform(-2, 1, (items, 3)) * weights[:, None], items)
    counts = item_counts(items, 30, seed)
    means = drawn_means(counts, sums, weights)
    places = list(order)
    assert (drawn_means(counts[:, places], sums[places], weights[places]) == means).all()
    exact = [math.fsum(row * sums[:, 0]) / math.fsum(row * weights) for row in counts]
    assert means[:, 0].tolist() == exact


@pytest.mark.filterwarnings("error")
def test_percentiles_by_hand():
    draws = np.arange(201.0)[:, None] * [1, 0] + [0, 7]
    low, high = percentile_interval(draws)
    assert (low.tolist(), high.tolist()) == ([5, 7], [195, 7])
    gaps = np.column_stack([np.r_[np.arange(201.0), np.nan], np.full(202, np.nan)])
    low, high = percentile_interval(gaps)
    assert (low[0], high[0]) == (5, 195) and np.isnan([low[1], high[1]]).all()
    # Between two draws an end is interpolated.
    assert [end[0] for end in percentile_interval(np.array([[0.0], [1.0]]))] == [0.025, 0.975]
    ranks = np.array([[1.0], [1.0], [2.0], [4.0]])
    assert [end[0] for end in percentile_interval(ranks, interpolate=False)] == [1, 4]
    for draws in (np.arange(101.0), np.r_[np.arange(101.0), np.nan]):
        ends = percentile_interval(draws[:, None], tails=np.array([0.05, 0.95]))
        assert [end[0] for end in ends] == [5, 95]
    # A draw without weight is not defined.
    counts = np.array([[1.0, 1.0], [0.0, 2.0]])
    means = drawn_means(counts, np.array([[0.5], [0.0]]), np.array([1.0, 0.0]))
    assert means[0, 0] == 0.5 and np.isnan(means[1, 0])
    # Each column may have weights of its own.
    weights = np.array([[1.0, 0.0], [1.0, 2.0]])
    means = drawn_means(counts, np.array([[0.5, 0.0], [0.0, 1.0]]), weights)
    assert means.tolist() == [[0.25, 0.5], [0.0, 0.5]]
