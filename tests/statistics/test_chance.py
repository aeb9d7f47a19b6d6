from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from benchc.statistics.chance import Chance, lower_bounds, option_chance, standings
from benchc.statistics.resampling import drawn_means, item_counts

ITEM = st.integers(2, 4).flatmap(lambda k: st.tuples(st.integers(0, k - 1), st.just(k)))


@given(st.lists(ITEM, min_size=1, max_size=4))
def test_chance_is_the_mean_over_all_answers_and_the_largest_of_equal_ones(items):
    answers, options = zip(*items, strict=True)
    accuracies = [np.mean(np.equal(given, answers)) for given in product(*map(range, options))]
    found = option_chance(answers, options)
    assert found.guessing == pytest.approx(np.mean(accuracies))
    by_letter = {letter: np.mean([a == place for a in answers]) for place, letter in enumerate("ABCD")}
    assert found.constant == max(by_letter.values()) == by_letter[found.answer]
    assert found.level == max(found.guessing, found.constant)
    # The first of equal letters.
    assert option_chance([2, 1, 1, 2], [4, 4, 3, 3]) == Chance((2 / 4 + 2 / 3) / 4, 0.5, "B")


@pytest.mark.parametrize("units", [1, 2, 5, 40])
def test_a_sample_without_a_mistake_has_an_exact_bound(units):
    draws = np.ones((100, 1))
    exact = binomtest(units, units).proportion_ci(0.95, "exact").low
    assert lower_bounds(draws, units).item() == pytest.approx(exact)
    assert lower_bounds(np.zeros((100, 1)), units).item() == 0


def standings_of_right(right, chances, masses=None, **settings):
    right = np.array(right, dtype=np.float64)  # [models, items]
    items = right.shape[1]
    drawn = drawn_means(item_counts(items, 400, 0), right.T, np.ones(items))
    given_settings = {"least_label_mass": 0.5, "rank_below_chance": False} | settings
    names = [f"m{number}" for number in range(len(right))]
    return standings(names, "Acc", drawn, items, chances, masses or [None] * len(right), **given_settings)


def test_a_model_must_exceed_guessing_and_the_best_constant_answer_beyond_its_interval():
    half = [1, 0] * 40  # [0.39, 0.61] or so
    for chance, above in (
        (Chance(0.25, 0.3, "A"), True),
        (Chance(0.25, 0.45, "A"), False),  # by the constant answer alone
        (Chance(0.45, 0.3, "A"), False),  # by guessing alone
        (Chance(None, 0.3, "red"), True),
        (Chance(None, 0.45, "red"), False),
    ):
        frame = standings_of_right([half], [chance])
        assert (frame["above_chance"][0], frame["ranked"][0]) == (above, above)
        assert frame["accuracy_low"][0] < 0.45 < frame["accuracy"][0]
    # Guessing gives two and three right answers with 1/16 and 1/64; an interval's end is exceeded with 1/40.
    for items, above in ((2, False), (3, True)):
        assert standings_of_right([[1] * items], [Chance(0.25, 0.2, "A")])["above_chance"][0] == above


def test_a_low_label_mass_takes_the_rank():
    right, chance = [1] * 30 + [0] * 10, Chance(0.25, 0.3, "A")
    frame = standings_of_right([right] * 3, [chance] * 3, [0.49, 0.5, None])
    assert frame["above_chance"].to_list() == [True] * 3
    assert frame["low_label_mass"].to_list() == [True, False, False]
    assert frame["ranked"].to_list() == [False, True, True]
    assert standings_of_right([right], [chance], [0.0], least_label_mass=0)["ranked"][0]


def test_below_chance_ranks_all_that_have_an_accuracy():
    right = [[1] * 40, [0] * 40, [np.nan] * 40]
    chances = [Chance(0.25, 0.3, "A")] * 3
    frame = standings_of_right(right, chances, [0.1, None, None], rank_below_chance=True)
    assert frame["ranked"].to_list() == [True, True, False]
    assert frame["above_chance"].to_list() == [True, False, None]
    assert standings_of_right(right, chances)["ranked"].to_list() == [True, False, False]


def test_values_are_in_the_unit_of_tables():
    frame = standings_of_right([[1, 0] * 40], [Chance(1 / 16, 0.0, "any")], unit=100.0)
    row = frame.row(0, named=True)
    assert (row["accuracy"], row["guessing"], row["constant"]) == (50, 6.25, 0)
    assert 30 < row["accuracy_low"] < 50 < row["accuracy_high"] < 70 and row["above_chance"]


@pytest.mark.parametrize(
    ("first", "draws"),
    [(0.2, [0.9] * 10), (0.9, [0.2] + [0.9] * 9), (0.9, [0.5] * 10), (0.9, [np.nan, *[0.8] * 9, np.nan])],
)
def test_the_interval_is_of_all_resamples_and_not_of_the_sample(first, draws):
    drawn = np.array([[first], *[[draw] for draw in draws]])
    settings = {"least_label_mass": 0.5, "rank_below_chance": False}
    frame = standings(["a"], "Acc", drawn, 100, [Chance(0.5, 0.5, "A")], [None], **settings)
    assert frame["accuracy"][0] == first
    assert frame["above_chance"][0] == (np.nanmin(draws) > 0.5) == (frame["accuracy_low"][0] > 0.5)
