import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import PathPatch

from benchc.benchmarks.bench_c.figures.figure10 import MEDIAN, plot
from benchc.rendering.style import COLUMN_WIDTH, TEXT_WIDTH
from tests.benchmarks.bench_c.figures.drawn import clashes, words
from tests.benchmarks.bench_c.figures.figure_tables import drawn_scores, score, scores
from tests.benchmarks.bench_c.metrics.score_tables import scored

GROUPS = {"defocus_blur": "blur", "snow": "weather", "zoom_blur": "blur"}


def boxes(axes: Axes) -> dict[str, tuple[float, float, float, float]]:
    """Position, lower quartile, median and upper quartile of every box by its name, "corruption severity"."""
    medians = [line for line in axes.lines if to_rgb(line.get_color()) == to_rgb(MEDIAN)]
    patches = [patch for patch in axes.patches if isinstance(patch, PathPatch)]
    found = {}
    for patch, median in zip(patches, medians, strict=True):
        box = patch.get_path().get_extents()
        found[patch.get_label()] = ((box.x0 + box.x1) / 2, box.y0, median.get_ydata()[0], box.y1)
    return found


def test_boxes_are_over_models_means_worked_by_hand():
    # Nine models, whose means under snow at severity 1 are 0, -0.1, ... -0.8.
    rows = [("s/0", -0.3, -0.1, 1), ("s/1", 0.3, -0.1, 1), ("s/0", -0.9, 0, 2)]
    tables = {
        f"m{model}": scores(
            [
                score(id_, 0.1, 0.1, ras + slope * model, "RW", severity=level)
                for id_, ras, slope, level in rows
            ]
        )
        for model in range(9)
    }
    figure = plot(tables, groups_of=GROUPS)
    blur, weather = figure.axes
    assert boxes(blur) == {}
    drawn = boxes(weather)
    assert list(drawn) == ["snow 1", "snow 2"]
    assert drawn["snow 1"] == pytest.approx((-0.21, -0.6, -0.4, -0.2))
    assert drawn["snow 2"] == pytest.approx((0.21, -0.9, -0.9, -0.9))
    assert figure.get_figwidth() == COLUMN_WIDTH
    assert not weather.collections  # no points


def test_panels_are_groups_on_one_scale_and_severities_have_one_colour_in_any_order_of_rows():
    tables = {f"m{seed}": drawn_scores(9, list(GROUPS), seed) for seed in range(8)}
    figure = plot(tables, groups_of=GROUPS)
    blur, weather = figure.axes
    assert words(axes.title for axes in figure.axes) == ["(a) Blur", "(b) Weather"]
    assert words(blur.get_xticklabels()) == ["defocus blur", "zoom blur"]
    assert blur.get_ylim() == weather.get_ylim()
    assert words(figure.legends[0].get_texts()) == ["severity 1", "5"]
    legend = [patch.get_facecolor() for patch in figure.legends[0].get_patches()]
    luminance = [np.dot(colour[:3], (0.2126, 0.7152, 0.0722)) for colour in legend]
    assert luminance[0] > luminance[1] + 0.3  # darker is more severe, also in grey print
    for axes in figure.axes:
        names = [name.replace(" ", "_") for name in words(axes.get_xticklabels())]
        for patch in axes.patches:
            name, severity = patch.get_label().split()
            assert patch.get_facecolor() == legend[["1", "5"].index(severity)]
            position, *numbers = boxes(axes)[patch.get_label()]
            cell = {"corruption": name, "severity": int(severity)}
            means = [table.filter(**cell)["ras"].mean() for table in tables.values()]
            assert names[round(position)] == name
            assert numbers == pytest.approx(list(np.quantile(means, (0.25, 0.5, 0.75))))
    shuffled = {name: table.sample(fraction=1, shuffle=True, seed=1) for name, table in tables.items()}
    again = plot(shuffled, groups_of=GROUPS)
    assert [boxes(axes) for axes in again.axes] == [boxes(axes) for axes in figure.axes]


def test_few_models_are_points_in_the_colour_of_the_severity_with_their_median():
    tables = {f"m{seed}": drawn_scores(5, ["snow"], seed) for seed in range(7)}
    figure = plot(tables, groups_of={"snow": "weather"})
    (axes,) = figure.axes
    assert not axes.patches and axes.get_ylabel() == "mean RAS of 7 models"
    legend = [to_rgb(handle.get_markerfacecolor()) for handle in figure.legends[0].get_lines()[:-1]]
    assert [to_rgb(points.get_facecolor()[0]) for points in axes.collections] == legend
    assert figure.legends[0].get_texts()[-1].get_text() == "median"
    medians = [line.get_ydata() for line in axes.lines if to_rgb(line.get_color()) == to_rgb(MEDIAN)]
    for points, median in zip(axes.collections, medians, strict=True):
        assert median == pytest.approx([np.median(points.get_offsets()[:, 1])] * 2)
    heights = sorted(position[1] for points in axes.collections for position in points.get_offsets().tolist())
    means = [table.group_by("severity").agg(pl.col("ras").mean())["ras"] for table in tables.values()]
    assert heights == pytest.approx(sorted(pl.concat(means)))
    assert not any(line.get_marker() == "o" for line in axes.lines)  # none twice


def test_a_group_too_wide_for_a_row_continues_in_the_next_and_a_model_far_from_the_others_is_a_circle():
    corruptions = [f"c{number}" for number in range(14)]
    figure = plot({"m": drawn_scores(2, corruptions, 0)}, groups_of=dict.fromkeys(corruptions, "digital"))
    assert [axes.get_title() for axes in figure.axes] == ["(a) Digital", "Digital (continued)"]
    assert figure.get_figwidth() == TEXT_WIDTH
    assert sum(len(axes.collections) for axes in figure.axes) == 28
    rows = [scores([score("s/0", 0.1, 0.1, ras, "RW")]) for ras in (0, 0, *[-0.1] * 4, -0.2, -0.2, -0.9)]
    tables = {f"m{number}": table for number, table in enumerate(rows)}
    (axes,) = plot(tables, groups_of={"snow": "weather"}).axes
    circles = [line.get_ydata().tolist() for line in axes.lines if line.get_marker() == "o"]
    assert circles == [[-0.9]]


def test_one_model_no_scores_and_errors():
    one = scores([score("s/0", 0.1, 0.1, -0.5, "RW", severity=3)])
    (axes,) = plot({"m": one}, groups_of={"snow": "weather"}).axes
    (points,) = axes.collections
    assert points.get_offsets().tolist() == [[0, -0.5]] and axes.get_ylabel() == "mean RAS of 1 model"
    assert [len(axes.collections) for axes in plot({"m": scores([])}, groups_of=GROUPS).axes] == [0, 0]
    with pytest.raises(ValueError, match="no model was given"):
        plot({}, groups_of=GROUPS)
    with pytest.raises(ValueError, match="scores of m have snow, whose group is not given"):
        plot({"m": one}, groups_of={"fog": "weather"})
    for note in ("On 1 of 2 items.", ""):
        (legend,) = plot({"a": one}, groups_of=GROUPS, note=f" {note}" if note else "").legends
        assert legend.get_title().get_text() == note


@pytest.mark.parametrize("ras", [0.0, -1e-17, 0.001])
def test_values_that_are_nearly_equal_are_not_magnified(ras: float):
    table = scores([score("s/0", 0.0, 0.0, ras, "RR", corruption=name) for name in GROUPS])
    for axes in plot({"a": table, "b": table}, groups_of=GROUPS).axes:
        low, high = axes.get_ylim()
        assert low <= -0.02 and high >= 0.02


NAMES = ["geometric_transform", "color_channel", "weather_condition", "shape_changing", "random_valued_noise"]


@pytest.mark.parametrize("count", [1, 2, 4, 5])
@pytest.mark.parametrize("severities", [[3], [1, 2, 3, 4, 5]])
def test_few_corruptions_of_long_names_have_room(count: int, severities: list[int]):
    names = NAMES[:count]
    table = scored(3, 0, names, severities)
    figure = plot({"a": table, "b": table}, groups_of={name: name for name in names}, note="On 3 of 4 items.")
    figure.draw_without_rendering()
    (legend,) = figure.legends
    texts = [text for axes in figure.axes for text in (axes.title, *axes.get_xticklabels())]
    assert clashes([*texts, *legend.get_texts(), legend.get_title()], figure.bbox) == []
    # In one row, in their order.
    assert len({round(text.get_window_extent().y0) for text in legend.get_texts()}) == 1
