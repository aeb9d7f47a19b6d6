"""Accuracies of groups: their values by hand, by chance and of blind readers, and their inequalities."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from benchc.benchmarks.naturalbench.metrics.debias import sample_outcomes
from benchc.benchmarks.naturalbench.metrics.groups import (
    CHANCE,
    CHANCE_SAMPLE,
    MEASURES,
    group_values,
    outcomes,
    violated,
)

# Truth of the paper's order: question 0 is option 0 for image 0, question 1 for image 1.
TRUTH = np.array([[0, 1], [1, 0]])
EVERY = np.array([*itertools.product([False, True], repeat=4)]).reshape(-1, 2, 2)

RIGHT = arrays.arrays(np.bool_, st.tuples(st.integers(1, 12), st.just(2), st.just(2)))


def means(right):
    return dict(zip(MEASURES, group_values(right).mean(axis=0), strict=True))


def test_outcomes_by_hand():
    # Question 0 is right on both images, question 1 on image 0 only.
    right = np.array([[True, True], [True, False]])
    assert outcomes(right).tolist() == [True, False, True, False, False]
    assert group_values(right).tolist() == [0.75, 0.5, 0.5, 0]
    # Question 0 about image 1 alone is wrong: question 1 and image 0 are right.
    assert outcomes(np.array([[True, False], [True, True]])).tolist() == [False, True, True, False, False]
    # Each image has one right answer, and question 0 both: I is 0 where Q is not.
    assert outcomes(np.array([[True, True], [False, False]])).tolist() == [True, False, False, False, False]
    assert outcomes(np.array([[True, False], [True, False]])).tolist() == [False, False, True, False, False]
    assert group_values(np.ones((3, 2, 2), dtype=bool)).tolist() == [[1, 1, 1, 1]] * 3


def test_a_coin_for_each_answer():
    # All 16 patterns of right and wrong are equally likely.
    assert means(EVERY) == CHANCE == {"acc": 0.5, "q_acc": 0.25, "i_acc": 0.25, "g_acc": 0.0625}


def test_a_random_order_of_the_four_probabilities():
    """The paper's 1/2, 1/2, 1/6: over all 24 orders of the four differences."""
    orders = np.array([*itertools.permutations([0.1, 0.2, 0.3, 0.4])]).reshape(-1, 2, 2)
    found = sample_outcomes(orders, np.broadcast_to(TRUTH, orders.shape)).mean(axis=0)
    assert found == pytest.approx([0.5, 0.5, 0.5, 0.5, 1 / 6])
    assert CHANCE_SAMPLE == {"q_acc": 1 / 2, "i_acc": 1 / 2, "g_acc": 1 / 6}


@pytest.mark.parametrize("blind", [*itertools.product([0, 1], repeat=2)])
def test_a_reader_that_sees_no_image(blind):
    """Acc is 50 exactly, Q and G are 0, and I is at most 50; always yes has I = 0 as well."""
    answers = np.broadcast_to(np.array(blind)[:, None], (2, 2))
    found = means((answers == TRUTH)[None])
    assert found["acc"] == 0.5 and found["q_acc"] == found["g_acc"] == 0 and found["i_acc"] <= 0.5
    assert (found["i_acc"] == 0) == (blind[0] == blind[1])


@given(RIGHT)
def test_the_inequalities_hold_for_any_answers(right):
    assert violated(means(right), 1e-12) == []


@given(RIGHT, st.randoms())
def test_the_order_of_groups_images_and_questions_changes_nothing(right, random):
    order = [*range(len(right))]
    random.shuffle(order)
    assert means(right[order]) == pytest.approx(means(right))
    assert group_values(right[:, ::-1, ::-1]).tolist() == group_values(right).tolist()
    swapped = group_values(right.swapaxes(1, 2))
    assert swapped[:, [0, 2, 1, 3]].tolist() == group_values(right).tolist()


@pytest.mark.parametrize(
    ("acc", "q", "i", "g", "broken"),
    [
        (0.9, 0.5, 0.9, 0.6, ["G-Acc <= Q-Acc", "2 Acc - 1 <= Q-Acc"]),
        (0.9, 0.9, 0.8, 0.85, ["G-Acc <= I-Acc"]),
        (0.5, 0.6, 0.5, 0.1, ["Q-Acc <= Acc"]),
        (0.5, 0.5, 0.6, 0.1, ["I-Acc <= Acc"]),
        (0.9, 0.8, 0.7, 0.6, ["2 Acc - 1 <= I-Acc"]),
        (0.9, 0.8, 0.8, 0.5, ["Q-Acc + I-Acc - 1 <= G-Acc"]),
        (0.5, 0.25, 0.25, 0.0625, []),
    ],
)
def test_each_inequality_can_be_violated(acc, q, i, g, broken):
    assert violated({"acc": acc, "q_acc": q, "i_acc": i, "g_acc": g}, 1e-9) == broken
    assert violated({"acc": acc, "q_acc": q, "i_acc": i, "g_acc": g}, 1.0) == []
