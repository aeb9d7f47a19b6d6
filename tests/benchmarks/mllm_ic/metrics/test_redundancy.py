from itertools import combinations

import numpy as np
import pytest
from scipy.stats import spearmanr

from benchc.benchmarks.mllm_ic.metrics.redundancy import growing_subsets, rank_correlation


@pytest.mark.filterwarnings("error")
def test_the_correlation_is_spearmans_with_ties_and_the_sample_does_not_choose_the_types() -> None:
    noise = np.random.default_rng(1)
    first, second = noise.integers(4, size=(2, 20, 6)).astype(float)
    for a, b, value in zip(first, second, rank_correlation(first, second), strict=True):
        assert value == pytest.approx(spearmanr(a, b).statistic)
    assert np.isnan(rank_correlation(np.ones(4), np.arange(4.0)))
    # Equal but for the last bits.
    assert rank_correlation(np.array([0.1 + 0.2, 0.3, 0.5]), np.array([1.0, 1.0, 2.0])) == pytest.approx(1)
    # At the boundary of two roundings to 9 decimals.
    assert rank_correlation(
        np.array([0.4916015625, 0.49160156250000003, 0.5]), np.array([1.0, 1.0, 2.0])
    ) == pytest.approx(1)
    sample = np.array([[0.3, 0.1], [0.2, 0.5], [0.1, 0.9]])  # by all types the models rise
    resample = np.array([[0.1, 0.1], [0.5, 0.3], [0.9, 0.2]])
    found = growing_subsets(np.stack([sample, resample]))
    assert found.order.tolist() == [0, 1]
    assert found.correlation[:, 0] == pytest.approx([-1, 1])


def test_means_that_are_almost_equal_are_tied_alike_in_all_subsets() -> None:
    # Of the mean over both types 0.4e-9 is no difference, and 0.7e-9 is one.
    sample = np.array([[0.5, 0.5 + 0.8e-9], [0.5, 0.5], [0.1, 0.1], [0.1 + 0.7e-9] * 2, [0.9, 0.9]])
    assert growing_subsets(np.stack([sample, sample])).correlation == pytest.approx(np.ones((2, 2)))


def test_a_type_under_which_models_are_equal_comes_last() -> None:
    rising = np.linspace(0.2, 0.8, 4)
    found = growing_subsets(np.tile(np.stack([np.full(4, 0.5), rising], axis=1), (3, 1, 1)))
    assert (found.order.tolist(), found.smallest) == ([1, 0], 1)
    # Also where each of the others ranks models unlike all types together: of the pairs of models, each
    # decides one by much, and has the others in reverse order by little.
    accuracy = np.full((3, 8, 5), 0.5)
    accuracy[:, ::2, 1:] = 0.51
    for number in range(4):
        accuracy[:, 2 * number : 2 * number + 2, 1 + number] = 0.0, 1.0
    found = growing_subsets(accuracy)
    assert found.order[-1] == 0 and (found.correlation[:, 0] < 0).all()
    # A resample in which they are equal counts as one with the reverse ranking.
    reversed_ = np.stack([rising, rising[::-1] / 10], axis=1)
    equal_once = np.stack([reversed_, np.stack([np.full(4, 0.5), rising], axis=1), reversed_])
    assert growing_subsets(equal_once).order.tolist() == [0, 1]
    # Where they always are, no ranking can be kept, but by all types.
    assert growing_subsets(np.full((3, 4, 3), 0.5)).smallest == 3


def drawn(sample: np.ndarray, noise: float) -> np.ndarray:
    """Return a sample [models, types] and 60 noisy resamples of it."""
    noises = np.random.default_rng(2).normal(0, noise, (60, *sample.shape))
    return np.concatenate([sample[None], sample + noises])


def test_a_type_that_ranks_as_all_do_comes_first_and_suffices() -> None:
    levels = np.linspace(0.2, 0.8, 6)
    crossed = levels[[1, 0, 2, 3, 4, 5]], levels[[0, 2, 1, 3, 4, 5]]
    found = growing_subsets(drawn(np.stack([crossed[0], levels, crossed[1]], axis=1), 0.001))
    assert (found.order[0], found.smallest) == (1, 1)
    assert (found.correlation[:, 0] == pytest.approx(1)) and (found.correlation[:, -1] == pytest.approx(1))


def test_two_types_are_needed_where_each_confuses_a_pair() -> None:
    levels = np.linspace(0.2, 0.8, 6)
    first, second = levels[[0, 2, 1, 3, 4, 5]], levels[[0, 1, 2, 3, 5, 4]]
    # Of each pair that one type exchanges, the other keeps the order by more.
    first[4:] += [-0.1, 0.1]
    second[1:3] += [-0.1, 0.1]
    sample = np.stack([first, second, second + 0.001 * np.arange(6)[::-1]], axis=1)
    accuracy = drawn(sample, 0.0001)
    whole = sample.mean(axis=1)
    smallest = min(
        number
        for number in (1, 2, 3)
        for chosen in combinations(range(3), number)
        if rank_correlation(sample[:, chosen].mean(axis=1), whole) > 1 - 1e-9
    )
    found = growing_subsets(accuracy)
    assert found.smallest == smallest == 2
    assert sorted(found.order.tolist()) == [0, 1, 2]


def test_a_subset_with_another_ranking_is_not_enough_however_alike() -> None:
    levels = np.linspace(0.0, 1.0, 11)
    accuracy = np.tile(levels[None, :, None], (9, 1, 2))
    for place, pair in enumerate((slice(1, 3), slice(8, 10))):
        accuracy[:, pair, place] = levels[pair][::-1]
        accuracy[:, pair, 1 - place] += [-0.07, 0.07]
    found = growing_subsets(accuracy)
    assert 0.95 < found.correlation[:, 0].min() < 0.9999
    assert found.smallest == 2


def test_a_subset_that_resamples_do_not_confirm_is_not_enough() -> None:
    levels = np.linspace(0.2, 0.6, 5)
    accuracy = np.tile(levels[None, :, None], (3, 1, 2))
    # In one of two resamples each type exchanges a pair, which the other type keeps in order by more.
    accuracy[1, 1:3, 0] = levels[[2, 1]]
    accuracy[1, 1:3, 1] += [-0.07, 0.07]
    accuracy[2, 3:5, 1] = levels[[4, 3]]
    accuracy[2, 3:5, 0] += [-0.07, 0.07]
    found = growing_subsets(accuracy)
    assert found.correlation[0] == pytest.approx([1, 1])
    assert found.correlation[1:, 0] == pytest.approx([0.9, 1.0])
    assert (found.order.tolist(), found.smallest) == ([0, 1], 2)


def test_an_interval_from_exactly_95_per_cent_is_enough() -> None:
    levels = np.arange(9) / 10
    accuracy = np.tile(levels[None, :, None], (9, 1, 2))
    accuracy[1:, :, 1] = 0
    # In each resample the first type exchanges three pairs, which the second keeps in order, but little else.
    for number, pair in enumerate((slice(0, 2), slice(2, 4), slice(4, 6))):
        accuracy[1:, pair, 0] = levels[pair].mean() + np.array([0.001, -0.001])
        accuracy[1:, pair, 1] = np.array([-0.003, 0.003]) - 0.01 * number
    found = growing_subsets(accuracy)
    assert (found.correlation[1:, 0] == 0.95).all()
    assert (found.order.tolist(), found.smallest) == ([0, 1], 1)
