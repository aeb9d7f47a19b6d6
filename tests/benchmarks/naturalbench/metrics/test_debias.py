"""Thresholds: the closed forms against all thresholds there are, ties, halves and post-hoc debiasing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from benchc.benchmarks.naturalbench.metrics import debias
from benchc.benchmarks.naturalbench.metrics.debias import Tau, best_tau, bounds, predicted, sample_outcomes
from benchc.benchmarks.naturalbench.metrics.groups import outcomes

TRUTH = np.array([[0, 1], [1, 0]])
# A coarse grid, so that ties are frequent, and 0 and both ends occur.
D = st.integers(-4, 4).map(lambda step: step / 4)
FINE = st.floats(-1, 1)


def groups_of(values):
    return arrays.arrays(
        np.float64, st.tuples(st.integers(1, 9), st.just(2), st.just(2)), elements=values
    ).flatmap(
        lambda d: arrays.arrays(np.int64, (len(d),), elements=st.integers(0, 1)).map(
            lambda flip: (d, TRUTH[None] ^ flip[:, None, None])
        )
    )


def candidates(values):
    """Return thresholds of which one is in each interval on which predictions are constant."""
    points = np.unique([-1.0, *np.ravel(values), 0.0])
    return np.unique([*points, *((points[1:] + points[:-1]) / 2)])


@given(groups_of(D) | groups_of(FINE))
def test_the_sample_tau_is_that_of_a_search(given_):
    """With one tau for a question, an image or a group; the two answers of it then differ."""
    d, truth = given_
    found = sample_outcomes(d, truth)
    for group in range(len(d)):
        right = [predicted(d[group], tau) == truth[group] for tau in candidates(d[group])]
        expected = np.array([outcomes(each) for each in right]).any(axis=0)
        assert found[group].tolist() == expected.tolist()


def test_the_paper_s_order_by_hand():
    d = np.array([[[0.9, 0.8], [0.7, 0.85]]])
    # d00 > d01, d11 > d10; d00 > d10, d11 > d01: all, though every answer is Yes at tau = 0.
    assert sample_outcomes(d, TRUTH[None]).tolist() == [[True] * 5]
    assert (predicted(d) == 0).all()
    assert [end.tolist() for end in bounds(d, TRUTH[None])] == [[0.8], [0.85]]
    # The right answers in the other order: none.
    assert sample_outcomes(d, 1 - TRUTH[None]).tolist() == [[False] * 5]


@given(groups_of(D) | groups_of(FINE))
def test_the_global_tau_is_that_of_a_scan(given_):
    d, truth = given_
    low, high = bounds(d, truth)
    best = best_tau(low, high)

    def right(tau):
        return int((predicted(d, tau) == truth).all(axis=(1, 2)).sum())

    counts = {tau: right(tau) for tau in candidates(d)}
    assert best.right == max(counts.values()) == right(best.tau) >= right(0.0)
    assert best.low <= best.tau < best.high and right(best.low) == best.right
    inside = [tau for tau in counts if best.low <= tau < best.high]
    assert all(counts[tau] == best.right for tau in inside)
    # No best threshold is nearer 0 than the nearest end of the interval.
    nearest = 0.0 if best.low <= 0 < best.high else min(abs(best.low), abs(best.high))
    assert all(abs(tau) >= nearest for tau, count in counts.items() if count == best.right)
    if best.low <= 0 < best.high:
        assert best.tau == 0


@given(groups_of(D), st.randoms())
def test_the_order_of_groups_changes_no_tau(given_, random):
    low, high = bounds(*given_)
    order = [*range(len(low))]
    random.shuffle(order)
    assert best_tau(low[order], high[order]) == best_tau(low, high)


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([(0.2, 0.6)], Tau(0.4, 0.2, 0.6, 1)),
        ([(-0.6, -0.2)], Tau(-0.4, -0.6, -0.2, 1)),
        ([(-0.2, 0.6)], Tau(0.0, -0.2, 0.6, 1)),
        # The lower end belongs to the interval, the upper one does not.
        ([(0.0, 0.5)], Tau(0.0, 0.0, 0.5, 1)),
        ([(-0.5, 0.0)], Tau(-0.25, -0.5, 0.0, 1)),
        # Two overlap from 0.5 to 0.6; the third is nearer 0, but alone.
        ([(0.2, 0.6), (0.5, 0.9), (0.0, 0.1)], Tau(0.55, 0.5, 0.6, 2)),
        # Two best intervals: the one nearest 0, by its nearest end.
        ([(0.5, 0.6), (-0.9, -0.3)], Tau(-0.6, -0.9, -0.3, 1)),
        # One that contains 0 is nearer than any other.
        ([(0.25, 0.5), (-0.25, 0.125)], Tau(0.0, -0.25, 0.125, 1)),
        # As near: the positive one.
        ([(0.25, 0.5), (-0.75, -0.25)], Tau(0.375, 0.25, 0.5, 1)),
        # One begins as another ends: one interval.
        ([(-0.5, 0.25), (0.25, 0.75)], Tau(0.0, -0.5, 0.75, 1)),
        ([(0.25, 0.5), (0.5, 1.0)], Tau(0.625, 0.25, 1.0, 1)),
        # Empty intervals count for nothing, equal ends too.
        ([(0.5, 0.5), (0.6, 0.1)], Tau(0.0, -1.0, 1.0, 0)),
        ([(0.5, 0.5), (0.3, 0.5)], Tau(0.4, 0.3, 0.5, 1)),
        ([], Tau(0.0, -1.0, 1.0, 0)),
        ([(-1.0, 1.0)], Tau(0.0, -1.0, 1.0, 1)),
        ([(-1.0, -0.5), (-1.0, -0.75)], Tau(-0.875, -1.0, -0.75, 2)),
    ],
)
def test_the_chosen_interval(intervals, expected):
    low, high = np.array(intervals, dtype=float).reshape(-1, 2).T
    assert best_tau(low, high) == pytest.approx(expected)


def test_the_middle_of_neighbouring_numbers_is_inside():
    low = 0.3
    for _ in range(4):
        high = float(np.nextafter(low, 1))
        found = best_tau(np.array([low]), np.array([high]))
        assert low <= found.tau < high
        low = high
    # Equation 2 is strict.
    assert predicted(np.array([0.1, 0.0, -0.1])).tolist() == [0, 1, 1]
    assert predicted(np.array([0.5, 0.5001]), 0.5).tolist() == [1, 0]


def test_probabilities_of_letters_and_texts():
    logits = np.array([[2.0, 1.0], [1.0, 2.0], [-np.inf, 3.0], [1.0, 1.0]])
    mass = np.array([0.5, 0.5, 0.25, 1.0])
    softmax = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = mass * (softmax[:, 0] - softmax[:, 1])
    np.testing.assert_allclose(debias.letter_difference(logits, mass), expected, rtol=1e-14)
    assert debias.letter_difference(logits, mass)[2] == -0.25
    # Not renormalised: at another mass, the same logits are another d.
    assert debias.letter_difference(logits[0], np.array(1.0)) == pytest.approx(2 * expected[0])
    found = debias.text_difference(np.log([[0.5, 0.2], [0.1, 0.4]]))
    np.testing.assert_allclose(found, [0.3, -0.3])
    # Post-hoc takes the prior of the question.
    d = np.array([[[1.0, 3.0], [1.0, 3.0]]])
    assert debias.post_hoc(d, np.array([[2.0, 5.0]])).tolist() == [[[1, 0], [1, 1]]]
    # A prior that is equal to the answer's is no reason for option 0.
    assert debias.post_hoc(d, np.array([[1.0, 3.0]])).tolist() == [[[1, 0], [1, 1]]]


@given(st.lists(st.text(min_size=1), min_size=1, max_size=20, unique=True), st.randoms())
def test_halves_depend_on_the_set_of_groups_alone(groups, random):
    found = dict(zip(groups, debias.halves(groups).tolist(), strict=True))
    sizes = [[*found.values()].count(half) for half in (0, 1)]
    assert sum(sizes) == len(groups) and 0 <= sizes[0] - sizes[1] <= 1
    shuffled = [*groups]
    random.shuffle(shuffled)
    assert dict(zip(shuffled, debias.halves(shuffled).tolist(), strict=True)) == found
