import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from benchc.benchmarks.bench_c.metrics.ras import (
    calibration_error,
    entropy,
    prediction,
    probabilities,
    ras,
    ras_of_predictions,
)

LOG3 = math.log(3)
OPTIONS = st.integers(2, 8)


def logits(count: st.SearchStrategy[int]) -> st.SearchStrategy[np.ndarray]:
    values = st.one_of(
        st.floats(-1e4, 1e4, width=32), st.floats(-3, 3, width=32), st.sampled_from([0.0, -0.0, 1.0])
    )
    return count.flatmap(
        lambda k: hnp.arrays(np.float32, st.tuples(st.integers(1, 4), st.just(k)), elements=values)
    )


def test_probabilities_of_logarithms_are_their_numbers_and_of_what_is_ruled_out_zero():
    np.testing.assert_allclose(probabilities(np.log([[1.0, 2.0, 5.0]])), [[0.125, 0.25, 0.625]], rtol=1e-15)
    logits = [0.0, -np.inf, 0.0]
    assert probabilities(logits).tolist() == [0.5, 0.0, 0.5]
    assert entropy(logits) == pytest.approx(math.log(2) / LOG3, abs=1e-15)


def test_entropy_by_hand():
    # p = (1/2, 1/2), (3/4, 1/4), and (1/2, 1/4, 1/4): 1.5 bits of log2(3).
    assert entropy([0.0, 0.0]) == pytest.approx(1.0, abs=1e-15)
    assert entropy([LOG3, 0.0]) == pytest.approx(2 - 0.75 * math.log2(3), abs=1e-15)
    assert entropy(np.log([2.0, 1.0, 1.0])) == pytest.approx(1.5 / math.log2(3), abs=1e-15)


def test_calibration_error_by_hand_and_of_huge_logits():
    logits = [LOG3, 0.0]  # confidence 3/4 in option 0
    assert calibration_error(logits, 0) == pytest.approx(0.25, abs=1e-15)
    assert calibration_error(logits, 1) == pytest.approx(0.75, abs=1e-15)
    np.testing.assert_allclose(calibration_error([logits, [0.0, LOG3]], [1, 1]), [0.75, 0.25], atol=1e-15)
    logits = [1e4, -1e4, -1e4]
    assert probabilities(logits).tolist() == [1.0, 0.0, 0.0]
    assert entropy(logits) == 0.0 and not np.signbit(entropy(logits))
    assert calibration_error(logits, 0) == 0.0
    assert calibration_error(logits, 1) == 1.0


@pytest.mark.parametrize(
    ("delta_s", "delta_c", "expected"),
    [
        (0.0, 0.0, 0.0),
        (0.5, 0.25, -0.25),  # degraded: no penalty beyond ΔC
        (-0.5, 0.25, -0.25 - 0.125),  # overconfident
        (0.5, -0.25, 0.25 - 0.125),  # hesitant
        (-0.5, -0.25, 0.25),  # stable
        (-1.0, 1.0, -2.0),  # the worst
        (-1.0, -1.0, 1.0),  # the best
        (1.0, -1.0, 0.0),
    ],
)
def test_ras_by_hand(delta_s, delta_c, expected):
    assert ras(delta_s, delta_c) == expected


def test_ties_go_to_the_lower_option_and_ras_of_predictions_by_hand():
    assert prediction([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [-np.inf, -np.inf, 0.0]]).tolist() == [1, 0, 2]
    # Clean: certain of the right option, C = 0, S = 0. Corrupted: even, but the tie goes to the wrong one.
    expected = -0.5  # ΔC = 1/2, ΔS = 1: degraded
    assert ras_of_predictions([[0.0, 0.0]], [[-1e4, 1e4]], [1]) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    "bad", [[0.0, np.nan], [0.0, np.inf], [-np.inf, -np.inf], [1.0], 1.0, [[0.0, 1.0], [np.nan, 0.0]]]
)
@pytest.mark.parametrize("function", [probabilities, entropy, prediction])
def test_undefined_logits_are_refused(function, bad):
    with pytest.raises(ValueError, match=r"at least two options|no finite logit"):
        function(bad)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([[2]], r"in 0\.\.1, found 2 to 2"),
        ([[-1]], r"in 0\.\.1, found -1 to -1"),
        ([[0.0]], r"integers of shape \(1, 1\), one per prediction, not float64 of shape \(1, 1\)"),
        ([[0, 0]], r"integers of shape \(1, 1\), one per prediction, not int64 of shape \(1, 2\)"),
        ([0], r"integers of shape \(1, 1\), one per prediction, not int64 of shape \(1,\)"),
        (0, r"integers of shape \(1, 1\), one per prediction, not int64 of shape \(\)"),
    ],
)
def test_answers_that_are_no_option_are_refused(answers, message):
    with pytest.raises(ValueError, match=f"answers must be {message}$"):
        calibration_error([[[0.0, 1.0]]], answers)


@pytest.mark.parametrize("delta", [np.nan, 1.0000001, -1.1])
def test_impossible_shifts_are_refused(delta):
    with pytest.raises(ValueError, match=rf"delta_entropy must be in \[-1, 1\], found {delta}"):
        ras([0.5, delta, 3.0], [0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=rf"delta_calibration must be in \[-1, 1\], found {delta}"):
        ras([0.0, 0.0, 0.0], [0.5, delta, 3.0])


@given(logits(OPTIONS), st.randoms(use_true_random=False))
def test_the_order_of_options_changes_no_bit_of_the_entropy(values, random):
    order = list(range(values.shape[1]))
    random.shuffle(order)
    assert entropy(values[:, order]).tolist() == entropy(values).tolist()
    assert probabilities(values[:, order]).max(axis=1).tolist() == probabilities(values).max(axis=1).tolist()


@given(logits(OPTIONS))
def test_against_fifty_digits_and_within_bounds(values):
    uncertainty = entropy(values)
    answers = np.arange(values.shape[1])[:, np.newaxis].repeat(len(values), axis=1)
    errors = np.array([calibration_error(values, each) for each in answers])
    assert all(((found >= 0) & (found <= 1)).all() for found in (uncertainty, errors))
    with mpmath.workdps(50):
        for row, found in zip(values.tolist(), uncertainty, strict=True):
            weights = [mpmath.exp(mpmath.mpf(value)) for value in row]
            shares = [weight / mpmath.fsum(weights) for weight in weights]
            expected = -mpmath.fsum(share * mpmath.log(share) for share in shares) / mpmath.log(len(row))
            assert abs(expected - mpmath.mpf(float(found))) < 1e-14
