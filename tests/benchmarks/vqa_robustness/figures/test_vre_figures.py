import numpy as np
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from benchc.benchmarks.vqa_robustness.figures import figure_accuracy as module_of_accuracy
from benchc.benchmarks.vqa_robustness.figures import figure_weightings as module_of_weightings
from benchc.benchmarks.vqa_robustness.figures.figure_a1 import figure_a1
from benchc.benchmarks.vqa_robustness.figures.figure_a2 import figure_a2
from benchc.benchmarks.vqa_robustness.figures.figure_accuracy import figure_accuracy
from benchc.benchmarks.vqa_robustness.figures.figure_bars import figure_bars
from benchc.benchmarks.vqa_robustness.figures.figure_classes import MOST, figure_classes
from benchc.benchmarks.vqa_robustness.figures.figure_heatmap import figure_heatmap
from benchc.benchmarks.vqa_robustness.figures.figure_radar import figure_radar
from benchc.benchmarks.vqa_robustness.figures.figure_weightings import figure_weightings
from benchc.benchmarks.vqa_robustness.metrics.drops import drops
from benchc.benchmarks.vqa_robustness.metrics.severity import severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, studied_weights
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors
from benchc.benchmarks.vqa_robustness.schemas.intervals import ACCURACY, INTERVALS, MODEL, STUDIED
from benchc.corruptions import corrupt
from benchc.corruptions.registry import recipe_of
from benchc.errors import InputError
from benchc.image_keys import image_seed
from benchc.rendering.contrast import _luminance
from benchc.rendering.series_style import line, series_style
from tests.benchmarks.vqa_robustness.graded import pool_of, write_other_errors, write_pool
from tests.benchmarks.vqa_robustness.published import vre_of
from tests.standings import standings_of

CHANCE = standings_of(["a", "b_1", "c", "d"], below=["d"])


@pytest.fixture
def errors() -> Errors:
    """Four models, of which the second has no VRE, and twelve corruptions."""
    values = 0.1 + 0.8 * np.random.default_rng(2).random((4, 12, 6))
    values[1, 5, 0] = 0
    return Errors(("a", "b_1", "c", "d"), tuple(f"type_{number}" for number in range(12)), values)


@pytest.fixture
def intervals(errors) -> pl.DataFrame:
    """Intervals that tell every kind and model apart: the third thing of the second kind is [2.3, 12.3]."""
    kinds = [MODEL, ACCURACY, *map(STUDIED.format, studied_weights())]
    rows = [
        (kind, name, number + place / 10, 10 + number + place / 10, 0.5, 9, 99, 0)
        for number, kind in enumerate(kinds, start=1)
        for place, name in enumerate(reversed(errors.models), start=1)
        if name != "b_1"
    ]
    rows.append((MODEL, "b_1", None, None, None, 9, 99, 0))
    return pl.DataFrame(rows, schema=INTERVALS, orient="row")


def interval_of(intervals: pl.DataFrame, kind: str, name: str) -> tuple[float, float]:
    ((low, high),) = intervals.filter(kind=kind, name=name).select("low", "high").rows()
    return low, high


def lines_of(axes) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Return the ends of all lines of intervals."""
    parts = [part for part in axes.collections if hasattr(part, "get_segments")]
    return [tuple(map(tuple, segment.tolist())) for part in parts for segment in part.get_segments()]


def dots_of(axes) -> list[np.ndarray]:
    """Return the places of all dots."""
    return [part.get_offsets() for part in axes.collections if not hasattr(part, "get_segments")]


def names_of(labels) -> list[str]:
    return [label.get_text() for label in labels]


def test_figure_a2_has_a_panel_for_each_corruption_and_a_curve_for_each_model(errors):
    figure = figure_a2(errors)
    panels = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title() for axes in panels] == [f"type {number}" for number in range(12)]
    for axes, expected in zip(panels, errors.values.swapaxes(0, 1), strict=True):
        np.testing.assert_array_equal([curve.get_ydata() for curve in axes.lines], expected)
        assert axes.lines[0].get_xdata().tolist() == list(range(6))
        assert axes.get_ylim() == panels[0].get_ylim()
    assert names_of(figure.legends[0].get_texts()) == ["a", "b_1", "c", "d"]
    # Three rows of four; each column shows the levels once.
    assert [axes.xaxis.get_tick_params()["labelbottom"] for axes in panels] == [False] * 8 + [True] * 4
    # With more models than corruptions the panels are models.
    fewer = Errors(errors.models, errors.corruptions[:3], errors.values[:, :3])
    figure = figure_a2(fewer)
    panels = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title() for axes in panels] == ["a", "b_1", "c", "d"]
    np.testing.assert_array_equal([curve.get_ydata() for curve in panels[2].lines], fewer.values[2])
    assert names_of(figure.legends[0].get_texts()) == ["type 0", "type 1", "type 2"]


def test_no_two_things_look_the_same():
    assert len({(series_style(n)["color"], series_style(n)["marker"]) for n in range(70)}) == 70
    assert len({(series_style(n)["color"], line(n)) for n in range(40)}) == 40


def test_the_weightings_are_those_of_the_study_and_models_are_sorted_by_equal_weights(errors, intervals):
    expected = np.stack([vre_of(errors.values, weights).model for weights in studied_weights().values()])
    (axes,) = figure_weightings(errors, CHANCE, intervals, []).axes
    order = [0, 2, 3]
    order.sort(key=lambda model: expected[0, model])
    names = [errors.models[model] for model in order]
    assert names_of(axes.get_yticklabels()) == [f"{name} †" if name == "d" else name for name in names]
    top, bottom = axes.get_ylim()[::-1]
    assert top < bottom  # the most robust model is at the top
    dots = dots_of(axes)
    np.testing.assert_allclose([part[:, 0] for part in dots], expected[:, order])
    # Each mark is on the line of its own interval, and no two lines of a model are on each other.
    lines = lines_of(axes)
    for weighting, part in zip(studied_weights(), dots, strict=True):
        for name, (_, height) in zip(names, part.tolist(), strict=True):
            low, high = interval_of(intervals, STUDIED.format(weighting), name)
            assert ((low, height), (high, height)) in lines
    heights = sorted(height for part in dots for _, height in part.tolist())
    assert len(lines) == 18 and np.diff(heights).min() > 0.1
    left, right = axes.get_xlim()
    assert left <= min(low for (low, _), _ in lines) and max(high for _, (high, _) in lines) <= right


def test_without_intervals_and_with_many_models_a_model_has_one_line(errors, intervals, monkeypatch):
    scale = Scale.of(severity_metrics(errors.values))
    monkeypatch.setattr(module_of_weightings, "MOST_SPREAD", 2)
    for given in (None, intervals):
        (axes,) = module_of_weightings.plot(errors, "0..5", scale, given).axes
        assert [part[:, 1].tolist() for part in dots_of(axes)] == [[0, 1, 2]] * 6
        values = np.array(dots_of(axes))[..., 0]
        ends = zip(range(3), values.min(0), values.max(0), strict=True)
        assert lines_of(axes) == [((low, row), (high, row)) for row, low, high in ends]


def test_accuracy_is_the_mean_over_corruptions_and_levels(errors, intervals):
    (axes,) = figure_accuracy(errors, CHANCE, intervals, [], weights=(0, 0, 0, 2, 0)).axes
    points = np.array([part[0] for part in dots_of(axes)])
    models = [0, 2, 3]
    np.testing.assert_allclose(points[:, 0], 1 - errors.values[models].mean(axis=(1, 2)))
    np.testing.assert_allclose(points[:, 1], vre_of(errors.values).model_parts[3, models])
    # Intervals of accuracy are horizontal, those of VRE upright, through the point of their model.
    expected = []
    for model, (x, y) in zip(models, points.tolist(), strict=True):
        left, right = interval_of(intervals, ACCURACY, errors.models[model])
        low, high = interval_of(intervals, MODEL, errors.models[model])
        expected += [((left, y), (right, y)), ((x, low), (x, high))]
    assert lines_of(axes) == expected
    for limits, place in ((axes.get_xlim(), 0), (axes.get_ylim(), 1)):
        found = [end[place] for ends in expected for end in ends]
        assert limits[0] <= min(found) and max(found) <= limits[1]
    scale = Scale.of(severity_metrics(errors.values))
    (axes,) = module_of_accuracy.plot(errors, (1,) * 5, "0..5", scale).axes
    assert lines_of(axes) == []


CLASSES = ("noise", "blur", "weather", "image_attribute")
GROUPS = {f"type_{number}": CLASSES[number % 4] for number in range(12)}
SORTED = [number for class_ in range(4) for number in range(class_, 12, 4)]


def test_the_heat_map_has_drops_by_class(errors):
    figure = figure_heatmap(errors, GROUPS)
    axes = figure.axes[0]
    expected = drops(errors.values).cell_drop[:, SORTED]
    np.testing.assert_allclose(axes.images[0].get_array(), expected)
    assert names_of(axes.get_xticklabels()) == [f"type {number}" for number in SORTED]
    assert names_of(axes.get_yticklabels()) == ["a", "b_1", "c", "d"]
    texts = {text.get_position(): text.get_text() for text in axes.texts if not hasattr(text, "xy")}
    assert texts[2, 1] == f"{100 * expected[1, 2]:.1f}".replace("-", "−")
    # Black on the darkest cell has the contrast of WCAG's level AAA.
    image = axes.images[0]
    assert (_luminance(image.cmap(image.norm(expected.max()))) + 0.05) / 0.05 > 7
    # Classes are above the axes, over their three columns.
    names = {text.get_text(): text.xy[0] for text in axes.texts if hasattr(text, "xy")}
    assert names == {"noise": 1, "blur": 4, "weather": 7, "image\nattribute": 10}
    assert figure.axes[1].get_ylabel() == "relative drop (a gain is white)"
    # A model without clean accuracy has no cells.
    errors.values[2, :, 0] = 1
    shown = figure_heatmap(errors, GROUPS).axes[0].images[0].get_array()
    assert np.ma.getmaskarray(shown).all(axis=1).tolist() == [False, False, True, False]
    without = {name: class_ for name, class_ in GROUPS.items() if name != "type_7"}
    for make in (figure_heatmap, figure_bars):
        with pytest.raises(InputError, match="type_7 has no group; add it to groups"):
            make(errors, without)


def test_bars_are_means_with_the_deviation_over_models(errors):
    (axes,) = figure_bars(errors, GROUPS).axes
    means = errors.values[:, SORTED, 1:].mean(axis=2)
    bars, deviations = axes.containers[1], axes.containers[0]
    np.testing.assert_allclose([bar.get_height() for bar in bars], means.mean(axis=0))
    segments = deviations.lines[2][0].get_segments()
    halves = [(top - bottom) / 2 for (_, bottom), (_, top) in segments]
    np.testing.assert_allclose(halves, means.std(axis=0, ddof=1))
    np.testing.assert_allclose(axes.collections[1].get_offsets()[:, 1], means.ravel())
    assert axes.lines[-1].get_ydata()[0] == pytest.approx(errors.values[:, :, 0].mean())
    # Classes have gaps between them.
    lefts = [bar.get_x() for bar in bars]
    assert np.diff(lefts).round(6).tolist() == ([1.0, 1.0, 1.6] * 4)[:-1]
    # One model has no deviation.
    (axes,) = figure_bars(Errors(("a",), errors.corruptions, errors.values[:1]), GROUPS).axes
    assert len(axes.containers) == 1 and not axes.collections


def test_radar_charts_show_the_parts_of_vre(errors, tmp_path):
    figure = figure_radar(errors, CHANCE, [], GROUPS)
    panels = [axes for axes in figure.axes if axes.get_visible()]
    titles = [axes.get_title() for axes in panels]
    assert titles == ["(a) models", "(b) noise", "(c) blur and weather", "(d) image attribute"]
    found = vre_of(errors.values)
    for axes, parts in (
        (panels[0], found.model_parts[:, [0, 2, 3]]),
        (panels[2], found.corruption_parts[:, [1, 5, 9, 2, 6, 10]]),
    ):
        for curve, values in zip(axes.lines, parts.T, strict=True):
            np.testing.assert_allclose(curve.get_ydata(), [*values, values[0]])
            np.testing.assert_allclose(curve.get_xdata()[:-1], np.arange(5) * 2 * np.pi / 5)
    assert names_of(panels[0].get_legend().get_texts()) == ["a", "c", "d †"]
    # No model with VRE is no error with a frozen scale.
    errors.values[:, 0, 0] = 0
    other = write_other_errors(tmp_path / "other.csv")
    FigureCanvasAgg(figure_radar(errors, CHANCE, [other], GROUPS)).draw()


def test_categories_are_shares_of_the_questions_most_first():
    def axes_of(categories: list[str | None]):
        figure = figure_classes(pool_of([f"s/{n}" for n in range(len(categories))], categories=categories))
        return figure, figure.axes[0]

    figure, axes = axes_of(["how many"] * 3 + ["why"] * 5 + [None] * 2)
    assert names_of(axes.get_yticklabels()) == ["why", "how many", "(none)"]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([0.5, 0.3, 0.2])
    assert names_of(axes.texts) == ["5", "3", "2"]
    # Only "how many" is in a class of Table A.2.
    assert len({bar.get_facecolor() for bar in axes.patches}) == 2 and figure.legends
    top, bottom = axes.get_ylim()[::-1]
    assert top < bottom
    # Rare categories are one bar.
    categories = [f"c{number:02}" for number in range(MOST + 5) for _ in range(2 if number < MOST else 1)]
    for number, last in ((None, [f"c{MOST - 1:02}", "5 others"]), (1, [f"c{MOST}"]), (2, ["2 others"])):
        _, axes = axes_of(categories[: number and 2 * MOST + number])
        assert names_of(axes.get_yticklabels())[-len(last) :] == last
        assert sum(bar.get_width() for bar in axes.patches) == pytest.approx(1)


def test_the_taxonomy_shows_each_corruption_below_its_class_with_the_pixels_of_a_run(tmp_path):
    picture = np.random.default_rng(4).integers(256, size=(60, 80, 3), dtype=np.uint8)
    pool = write_pool(tmp_path / "pool.parquet", pool_of(["s/0"], images=[["s://photo"]]), picture)
    groups = {"shot_noise": "noise", "inverse": "image_attribute", "pixelate": "digital"}
    recipes = {name: recipe_of(name, "vqa-robustness") for name in groups}
    figure = figure_a1(pool, groups, recipes, ["shot_noise", "pixelate"], 7, "drop", severity=3)
    FigureCanvasAgg(figure).draw()
    shown = [np.asarray(axes.images[0].get_array()) for axes in figure.axes]
    np.testing.assert_array_equal(shown[0], picture)
    np.testing.assert_array_equal(shown[2], 255 - picture)
    for name, found in zip(groups, shown[1:], strict=True):
        seed = image_seed(7, "s://photo", name, 3)
        expected = corrupt(picture, name, 3, seed=seed, suite="vqa-robustness")
        np.testing.assert_array_equal(found, expected)
    texts = [text.get_text() for text in figure.texts]
    assert texts == [
        *("clean", "shot noise", "inverse*", "pixelate", "noise", "image attribute", "digital"),
        "* VRE is not computed over it",
    ]
    # A class is above its image, a name below.
    left = figure.axes[1].get_position()
    name, head = figure.texts[1], figure.texts[4]
    assert left.x0 < name.get_position()[0] < left.x1 and name.get_position()[1] < left.y0
    assert left.x0 < head.get_position()[0] < left.x1 and head.get_position()[1] > left.y1
    whole = figure_a1(pool, groups, recipes, [*groups], 7, "drop")
    assert not any("*" in text.get_text() for text in whole.texts)
