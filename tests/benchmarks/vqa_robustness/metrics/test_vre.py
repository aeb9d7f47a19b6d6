from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import linregress

from benchc.benchmarks.vqa_robustness.metrics.severity import METRICS, falls, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, vre, weights_of
from benchc.errors import InputError
from benchc.statistics.ranks import ranks
from tests.benchmarks.vqa_robustness.published import vre_of

ERRORS = arrays(float, (3, 4, 6), elements=st.integers(1, 1000).map(lambda value: value / 1000))
PRIORITIES = st.tuples(*[st.integers(0, 9)] * 5).filter(any)


@given(ERRORS)
def test_the_metrics_are_those_of_other_formulas(errors):
    first, range_, rate, mean, difference = severity_metrics(errors)
    without = severity_metrics(errors, "1..5")
    np.testing.assert_array_equal(without[[0, 4]], [first, difference])
    for place in np.ndindex(errors.shape[:2]):
        row = errors[place]
        assert first[place] == pytest.approx(row[1] / row[0] - 1)
        # The identity of the paper's metrics.
        assert mean[place] == pytest.approx(row[0] + 5 * difference[place] / 6)
        for own, found in ((row, (range_, rate, mean)), (row[1:], without[1:4])):
            assert found[0][place] == pytest.approx(max(own) / min(own) - 1)
            assert found[1][place] == pytest.approx(linregress(range(len(own)), own).slope, abs=1e-12)
            assert found[2][place] == pytest.approx(sum(own) / len(own))


@given(ERRORS, PRIORITIES)
def test_vre_is_in_the_unit_interval_and_its_means_agree(errors, priorities):
    metrics = severity_metrics(errors)
    scaled = Scale.of(metrics).scaled(metrics)
    assert scaled.min() >= 0 and scaled.max() <= 1
    found = vre(scaled, weights_of(priorities))
    assert found.model.mean() == pytest.approx(found.corruption.mean())
    # Weights have no unit, also where their sum would be no number.
    np.testing.assert_allclose(weights_of((1e308,) * 5), 0.2)
    other = vre(scaled, weights_of(tuple(7 * value for value in priorities)))
    np.testing.assert_allclose(other.model, found.model)
    # One metric alone is its mean.
    for number in range(5):
        alone = vre(scaled, weights_of(tuple(float(each == number) for each in range(5))))
        np.testing.assert_allclose(alone.model, found.model_parts[number])
        np.testing.assert_allclose(alone.corruption, found.corruption_parts[number])


def test_a_frozen_scale_keeps_vre_when_a_model_is_added():
    errors = np.linspace(0.2, 0.8, 72).reshape(3, 4, 6) ** 1.5
    metrics = severity_metrics(errors)
    scale = Scale.of(metrics[:, :2])
    weights = weights_of((1, 2, 3, 4, 5))
    before = vre(scale.scaled(metrics[:, :2]), weights).model
    np.testing.assert_array_equal(vre(scale.scaled(metrics), weights).model[:2], before)
    joint = vre(Scale.of(metrics).scaled(metrics), weights).model[:2]
    assert not np.allclose(joint, before)


def test_a_model_with_an_error_of_zero_has_no_vre_and_moves_no_other():
    errors = np.linspace(0.2, 0.8, 48).reshape(2, 4, 6)
    perfect = errors[:1].copy()
    perfect[0, 3, 0] = 0.0
    metrics = severity_metrics(np.concatenate([errors[:1], perfect, errors[1:]]))
    assert np.isnan(metrics[:, 1, 3]).tolist() == [True, True, False, False, False]
    found, expected = vre_of(np.concatenate([errors[:1], perfect, errors[1:]])), vre_of(errors)
    np.testing.assert_array_equal(found.model[[0, 2]], expected.model)
    np.testing.assert_array_equal(found.corruption, expected.corruption)
    assert np.isnan(found.model[1]) and ranks(found.model)[1] == 0
    with pytest.raises(InputError, match="no model has all metrics of severity"):
        Scale.of(metrics[:, 1:2])
    # On a scale of other models, it alone leaves the corruptions without VRE.
    alone = vre(Scale.of(metrics).scaled(metrics[:, 1:2]), weights_of((1,) * 5))
    assert alone.corruption.shape == (4,) and np.isnan(alone.corruption).all()


def test_a_metric_with_one_value_is_zero_for_all():
    metrics = severity_metrics(np.full((2, 3, 6), 0.5))
    np.testing.assert_array_equal(Scale.of(metrics).scaled(metrics), np.zeros((5, 2, 3)))
    # Rounding errors are no differences: these curves have one slope and one mean difference.
    metrics = severity_metrics(np.arange(6) / 10 + np.array([[0.1, 0.2, 0.3]])[..., None])
    scale = Scale.of(metrics)
    assert scale.constant.tolist() == [False, False, True, False, True]
    assert (scale.high > scale.low).all() and not scale.scaled(metrics)[[2, 4]].any()
    # A difference in the ninth decimal is one.
    scale = Scale(np.zeros(5), np.array([0.5, 0.9, 1, 1.1, 2]) / 10**9)
    assert scale.constant.tolist() == [True, True, False, False, False]


@given(ERRORS)
def test_falls_are_the_steps_that_go_down(errors):
    expected = [[sum(b < a for a, b in pairwise(curve)) for curve in model] for model in errors]
    assert falls(errors).tolist() == expected


@pytest.mark.parametrize(
    ("priorities", "sentence"),
    [
        ((1, 1, 1, 1), f"weights 1, 1, 1, 1: are 4, not 5; give one for each of {', '.join(METRICS)}"),
        ((1,) * 6, f"weights 1, 1, 1, 1, 1, 1: are 6, not 5; give one for each of {', '.join(METRICS)}"),
        ((1, 1, 1, 1, -1), "weights 1, 1, 1, 1, -1: must be numbers of at least 0; correct them"),
        ((1, 1, 1, 1, float("nan")), "weights 1, 1, 1, 1, nan: must be numbers of at least 0; correct them"),
        ((0, 0, 0, 0, 0), "weights 0, 0, 0, 0, 0: have the sum 0; raise one of them"),
    ],
)
def test_weights_that_are_none_are_one_sentence(priorities, sentence):
    with pytest.raises(InputError) as caught:
        weights_of(priorities)
    assert str(caught.value) == sentence
