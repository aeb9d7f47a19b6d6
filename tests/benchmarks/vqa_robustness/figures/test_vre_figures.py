"""What the figures of VRE show."""

import numpy as np
import pytest

from benchc.benchmarks.vqa_robustness.figures.figure_a2 import figure_a2
from benchc.benchmarks.vqa_robustness.figures.figure_accuracy import figure_accuracy
from benchc.benchmarks.vqa_robustness.figures.figure_weightings import figure_weightings
from benchc.benchmarks.vqa_robustness.figures.looks import line, look
from benchc.benchmarks.vqa_robustness.metrics.severity import severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, studied_weights, vre
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors


@pytest.fixture
def errors() -> Errors:
    """Four models, of which the second has no VRE, and twelve corruptions."""
    values = 0.1 + 0.8 * np.random.default_rng(2).random((4, 12, 6))
    values[1, 5, 0] = 0
    return Errors(("a", "b_1", "c", "d"), tuple(f"type_{number}" for number in range(12)), values)


def test_figure_a2_has_a_panel_for_each_model_and_a_curve_for_each_corruption(errors):
    figure = figure_a2(errors)
    panels = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title() for axes in panels[:3]] == ["a", "b_1", "c"] and len(panels) == 4
    for axes, expected in zip(panels, errors.values, strict=True):
        np.testing.assert_array_equal([curve.get_ydata() for curve in axes.lines], expected)
        assert axes.lines[0].get_xdata().tolist() == list(range(6))
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == [f"type {number}" for number in range(12)]
    # The panels of the first row that have none below them show the levels.
    assert [axes.xaxis.get_tick_params()["labelbottom"] for axes in panels] == [False, True, True, True]


def test_no_two_things_look_the_same():
    assert len({(look(n)["color"], look(n)["marker"]) for n in range(70)}) == 70
    assert len({(look(n)["color"], line(n)) for n in range(40)}) == 40


def test_the_weightings_are_those_of_the_study_and_models_are_sorted_by_equal_weights(errors):
    scaled = Scale.of(metrics := severity_metrics(errors.values)).scaled(metrics)
    expected = np.stack([vre(scaled, weights).model for weights in studied_weights().values()])
    (axes,) = figure_weightings(errors).axes
    shown = np.array([dots.get_offsets()[:, 0] for dots in axes.collections[1:]])
    order = [0, 2, 3]
    order.sort(key=lambda model: expected[0, model])
    np.testing.assert_allclose(shown, expected[:, order])
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        ("a", "b_1", "c", "d")[m] for m in order
    ]
    top, bottom = axes.get_ylim()[::-1]
    assert top < bottom  # the most robust model is at the top


def test_accuracy_is_the_mean_over_corruptions_and_levels(errors):
    (axes,) = figure_accuracy(errors, weights=(0, 0, 0, 2, 0)).axes
    metrics = severity_metrics(errors.values)
    scaled = Scale.of(metrics).scaled(metrics)
    points = np.array([dots.get_offsets()[0] for dots in axes.collections])
    models = [0, 2, 3]
    np.testing.assert_allclose(points[:, 0], 1 - errors.values[models].mean(axis=(1, 2)))
    np.testing.assert_allclose(points[:, 1], scaled[3, models].mean(axis=1))
