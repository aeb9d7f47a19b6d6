"""Resamples of VRE against a plain loop over drawn images."""

import numpy as np
import pytest

from benchc.benchmarks.vqa_robustness.metrics.bootstrap import Draws, vre_draws
from benchc.benchmarks.vqa_robustness.metrics.severity import severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, vre, weights_of
from benchc.statistics.ranks import rank_shares
from benchc.statistics.resampling import item_counts

WEIGHTS = weights_of((1, 2, 1, 3, 1))
MODELS, CORRUPTIONS, IMAGES, DRAWS = 3, 4, 40, 60


@pytest.fixture(scope="module")
def answers() -> tuple[np.ndarray, np.ndarray]:
    """Wrong answers [models, corruptions, 6, images], and the questions about each image."""
    noise = np.random.default_rng(5)
    questions = noise.integers(1, 8, IMAGES).astype(float)
    level = np.arange(6)[:, None]
    rate = 0.1 + 0.08 * np.arange(MODELS)[:, None, None, None] + 0.02 * level
    rate = rate + 0.03 * np.arange(CORRUPTIONS)[:, None, None] * (level > 0)
    wrong = noise.binomial(questions.astype(int), np.broadcast_to(rate, (3, 4, 6, IMAGES)))
    return wrong.astype(float), questions


@pytest.mark.parametrize("levels", ["0..5", "1..5"])
@pytest.mark.parametrize("frozen", [False, True])
def test_each_resample_is_vre_of_its_images(answers, levels, frozen):
    wrong, questions = answers
    point = severity_metrics(wrong.sum(axis=-1) / questions.sum(), levels)
    scale = Scale.of(point)
    found = vre_draws(wrong, questions, WEIGHTS, DRAWS, 3, levels, scale if frozen else None)
    assert found.models.shape == (1 + DRAWS, MODELS)
    for draw, counts in enumerate(item_counts(IMAGES, DRAWS, 3)):
        images = np.repeat(np.arange(IMAGES), counts.astype(int))
        errors = wrong[..., images].sum(axis=-1) / questions[images].sum()
        metrics = severity_metrics(errors, levels)
        expected = vre((scale if frozen else Scale.of(metrics)).scaled(metrics), WEIGHTS)
        np.testing.assert_allclose(found.models[draw], expected.model, atol=1e-12)
        np.testing.assert_allclose(found.corruptions[draw], expected.corruption, atol=1e-12)
        np.testing.assert_allclose(found.model_parts[draw], expected.model_parts, atol=1e-12)
        np.testing.assert_allclose(found.errors[draw], errors.mean(axis=(1, 2)), atol=1e-12)


def test_more_resamples_extend_fewer_and_intervals_are_of_the_resamples_alone(answers):
    few, found = (vre_draws(*answers, WEIGHTS, draws, 3) for draws in (5, DRAWS))
    np.testing.assert_array_equal(found.models[:6], few.models)
    assert not np.array_equal(vre_draws(*answers, WEIGHTS, 5, 4).models[1:], few.models[1:])
    (low, high), (low_c, high_c) = map(found.interval, (found.models, found.corruptions))
    np.testing.assert_allclose(low, np.quantile(found.models[1:], 0.025, axis=0))
    np.testing.assert_allclose(high, np.quantile(found.models[1:], 0.975, axis=0))
    np.testing.assert_allclose(high_c, np.quantile(found.corruptions[1:], 0.975, axis=0))
    assert (low < high).all() and (low_c < high_c).all()


def rare_of(answers, *images: int) -> np.ndarray:
    """Return wrong answers in which a model is wrong about these images alone, clean."""
    rare = answers[0].copy()
    rare[1, 2, 0] = 0
    rare[1, 2, 0, [*images]] = 1
    return rare


def test_resamples_in_which_other_models_have_vre_are_left_out(answers):
    found = vre_draws(rare_of(answers, 7, 8, 9, 10), answers[1], WEIGHTS, 200, 3)
    lacking = item_counts(IMAGES, 200, 3)[1:, 7:11].sum(axis=1) == 0  # few resamples lack the images
    assert 0 < lacking.sum() <= 0.05 * 200
    np.testing.assert_array_equal(found.kept, ~lacking)
    # Of no model and no corruption: another scale, and other means.
    assert np.isfinite(found.errors).all() and np.isnan(found.model_parts[1:][lacking]).all()
    assert np.isnan(found.models[1:][lacking]).all() and np.isnan(found.corruptions[1:][lacking]).all()
    (low, high), (low_c, _) = map(found.interval, (found.models, found.corruptions))
    np.testing.assert_allclose(high, np.quantile(found.models[1:][~lacking], 0.975, axis=0))
    assert np.isfinite(low).all() and np.isfinite(low_c).all()
    np.testing.assert_allclose(rank_shares(found.models[1:][found.kept]).sum(axis=1), 1)


@pytest.mark.parametrize(("draws", "known"), [(20, True), (19, False)])
def test_one_of_twenty_resamples_may_be_left_out(draws: int, known: bool) -> None:
    values = np.arange(1.0 + draws)[:, None]
    values[3] = np.nan
    found = Draws(values, values, values, values)
    low, high = found.interval(values)
    assert found.kept.tolist() == [number != 2 for number in range(draws)] and found.is_enough is known
    expected = np.quantile(np.delete(values[1:], 2), [0.025, 0.975]) if known else [np.nan] * 2
    np.testing.assert_allclose([*low, *high], expected)


def test_there_are_no_intervals_where_many_resamples_are_left_out(answers):
    found = vre_draws(rare_of(answers, 7), answers[1], WEIGHTS, DRAWS, 21)
    # Also the first and the last resample lack the image.
    kept = item_counts(IMAGES, DRAWS, 21)[1:, 7] > 0
    assert found.kept.tolist() == kept.tolist() and not kept[[0, -1]].any()
    assert 0.2 < 1 - found.kept.mean() < 0.5
    assert np.isnan([*map(found.interval, (found.models,))]).all()
    assert np.isnan([*map(found.interval, (found.corruptions,))]).all()
