import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchc.benchmarks.bench_c.metrics.subsets import subsets_of_pool, subsets_of_selected

SELECTED = np.array([True, False, True, True, False, False, True])  # 4 selected, 3 others evaluated


def test_sizes_and_shares_are_those_of_draws_without_replacement():
    chosen = subsets_of_pool(SELECTED, (4, 11), size=3, draws=4_000, seed=0)
    assert set(np.unique(chosen)) == {0, 1}
    assert (chosen.sum(axis=1) == 3).all()
    inside = chosen[:, SELECTED].sum(axis=1)
    expected = stats.hypergeom(15, 4, 3).pmf(range(4))
    # Within four standard errors: 3 of 15 items, 4 of which are selected.
    shares = np.bincount(inside.astype(int), minlength=4) / 4_000
    assert shares == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 4_000))
    # A selected item represents itself, an other one 11 / 3 items of its kind.
    frequency = chosen.mean(axis=0) / (3 / 15)
    assert frequency == pytest.approx(np.where(SELECTED, 1, 11 / 3), abs=0.25)
    few, many = (subsets_of_pool(SELECTED, (4, 11), 3, draws, seed=5) for draws in (4, 9))
    assert (many[:4] == few).all()
    assert (subsets_of_pool(SELECTED, (4, 11), 3, 9, seed=6) != many).any()


def test_where_all_were_evaluated_a_subset_may_be_larger_than_the_others_are_many():
    chosen = subsets_of_pool(SELECTED, (4, 3), size=4, draws=500, seed=0)
    assert (chosen.sum(axis=1) == 4).all()
    assert chosen.mean(axis=0) == pytest.approx(np.full(7, 4 / 7), abs=0.09)
    assert (subsets_of_pool(SELECTED, (4, 3), size=7, draws=3, seed=0) == 1).all()


def test_subsets_of_the_selected_set():
    assert (subsets_of_selected(SELECTED, 4, draws=9, seed=0) == SELECTED).all()
    assert subsets_of_selected(SELECTED, 4, draws=9, seed=0).shape == (1, 7)
    chosen = subsets_of_selected(SELECTED, 3, draws=800, seed=0)
    assert chosen.shape == (800, 7) and (chosen.sum(axis=1) == 3).all()
    assert chosen.mean(axis=0) == pytest.approx(0.75 * SELECTED, abs=0.07)


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 5), st.integers(0, 5), st.integers(-1, 9))
def test_a_subset_that_may_need_unevaluated_items_is_refused(inside, outside, more, others, size):
    selected = np.array([True] * inside + [False] * outside, dtype=bool)
    pool = (inside + more, outside + others)
    fits = size >= 1 and min(size, pool[0]) <= inside and min(size, pool[1]) <= outside
    if fits and size <= sum(pool):
        assert (subsets_of_pool(selected, pool, size, 3, 0).sum(axis=1) == size).all()
    else:
        message = f"cannot sample {size} items from {inside} selected and {outside} others"
        with pytest.raises(ValueError, match=message):
            subsets_of_pool(selected, pool, size, 3, 0)
    if size > inside:
        with pytest.raises(ValueError, match=f"from {inside} selected"):
            subsets_of_selected(selected, size, 3, 0)
