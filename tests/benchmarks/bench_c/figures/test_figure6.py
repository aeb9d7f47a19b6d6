import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from benchc.benchmarks.bench_c.figures.figure6 import plot
from benchc.rendering.style import COLUMN_WIDTH, DIVERGING, TEXT_WIDTH
from tests.benchmarks.bench_c.figures.drawn import clashes, words
from tests.benchmarks.bench_c.figures.figure_tables import drawn_scores, score, scores

GROUPS = {"defocus_blur": "blur", "snow": "weather", "zoom_blur": "blur"}

ONE = scores(
    [
        score("s/0", 0.1, 0.1, -0.5, "RR", corruption="snow", severity=1),
        score("s/0", 0.1, 0.1, -0.3, "RW", corruption="snow", severity=2),
        score("s/1", 0.1, 0.1, -0.1, "RW", corruption="snow", severity=1),
        score("s/2", 0.1, 0.1, 0.25, "WR", corruption="snow", severity=1),
        score("s/0", 0.1, 0.1, -0.8, "RW", corruption="zoom_blur", severity=1),
        score("s/2", 0.1, 0.1, -0.0004, "WW", corruption="zoom_blur", severity=1),
        score("s/0", 0.1, 0.1, -1.2, "RW", corruption="defocus_blur", severity=1),
        score("s/2", 0.1, 0.1, 0.04, "WW", corruption="defocus_blur", severity=1),
    ]
)
# Never wrong when clean, and not evaluated under defocus blur.
TWO = scores(
    [
        score("s/0", 0.1, 0.1, 0.0, "RR", corruption="snow", severity=1),
        score("s/0", 0.1, 0.1, -0.06, "RR", corruption="zoom_blur", severity=1),
    ]
)


def values(axes: Axes) -> np.ndarray:
    return np.ma.filled(axes.images[0].get_array(), np.nan)


def cells(axes: Axes) -> dict[tuple[float, float], str]:
    """Numbers written in cells, by (column, row)."""
    return {
        text.get_position(): text.get_text() for text in axes.texts if text.get_transform() == axes.transData
    }


def hatched(axes: Axes) -> set[tuple[float, float]]:
    return {
        (patch.get_x() + 0.5, patch.get_y() + 0.5)
        for patch in axes.patches
        if isinstance(patch, Rectangle) and patch.get_hatch()
    }


def test_cells_are_the_means_worked_by_hand_with_names_and_colours():
    figure = plot({"one": ONE, "two": TWO}, groups_of=GROUPS)
    destructive, corrective = figure.axes[:2]
    # Columns: defocus blur, zoom blur, snow (groups side by side, in order of first mention).
    np.testing.assert_allclose(values(destructive), [[-1.2, -0.8, -0.3], [np.nan, -0.06, 0.0]])
    np.testing.assert_allclose(values(corrective), [[0.04, -0.0004, 0.25], [np.nan] * 3])
    one = {(0, 0): "−1.200", (1, 0): "−.800", (2, 0): "−.300"}
    assert cells(destructive) == one | {(1, 1): "−.060", (2, 1): ".000"}
    assert cells(corrective) == {(0, 0): ".040", (1, 0): ".000", (2, 0): ".250"}
    assert hatched(destructive) == {(0, 1)}
    assert hatched(corrective) == {(0, 1), (1, 1), (2, 1)}
    assert words(figure.legends[0].get_texts()) == ["no samples"]
    for axes in (destructive, corrective):
        assert words(axes.get_yticklabels()) == ["one", "two"]
    assert words(corrective.get_xticklabels()) == ["defocus blur", "zoom blur", "snow"]
    names = {text.get_text(): text.xy[0] for text in destructive.texts if text.get_text() in GROUPS.values()}
    assert names == {"blur": 0.5, "weather": 2}
    counts = [axis for axes in (destructive, corrective) for axis in axes.child_axes]
    assert [words(axis.get_yticklabels()) for axis in counts] == [["2", "1"], ["1", "0"]]
    images = [axes.images[0] for axes in figure.axes[:2]]
    assert all(image.get_clim() == (-1.2, 1.2) for image in images)
    middle = matplotlib.colormaps[DIVERGING](0.5)
    assert images[0].to_rgba(0.0) == pytest.approx(middle, abs=0.01)
    low, high = images[0].to_rgba(-1.2), images[0].to_rgba(1.2)
    assert low[2] > low[0] and high[0] > high[2]  # blue is a loss, red a gain


def test_a_wide_figure_has_numbers_that_stand_out_from_their_cells():
    def luminance(colour: tuple[float, ...]) -> float:
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
        return float(np.dot([0.2126, 0.7152, 0.0722], parts))

    names = [f"{name}_{number}" for name in GROUPS for number in range(6)]
    tables = {f"m{seed}": drawn_scores(12, names, seed) for seed in range(2)}
    figure = plot(tables, groups_of=dict.fromkeys(names, "all"))
    assert figure.get_figwidth() == TEXT_WIDTH
    for axes in figure.axes[:2]:
        grid = values(axes)
        for text in axes.texts:
            if text.get_transform() == axes.transData:
                column, row = text.get_position()
                cell = luminance(axes.images[0].to_rgba(grid[row, column]))
                letters = luminance(matplotlib.colors.to_rgb(text.get_color()))
                dark, light = sorted((cell, letters))
                assert (light + 0.05) / (dark + 0.05) >= 4.5  # WCAG 2, level AA


def test_one_model_one_corruption_no_sample_at_all_errors_and_a_note():
    figure = plot({"one": ONE.clear()}, groups_of={"snow": "weather"})
    assert figure.get_figwidth() == COLUMN_WIDTH
    for axes in figure.axes[:2]:
        assert hatched(axes) == {(0, 0)}
        assert cells(axes) == {}
    with pytest.raises(ValueError, match="scores of one have zoom_blur, whose group is not given"):
        plot({"one": ONE}, groups_of={"snow": "weather", "defocus_blur": "blur"})
    with pytest.raises(ValueError, match="no model"):
        plot({}, groups_of=GROUPS)
    assert figure.get_supxlabel() == ""
    noted = plot({"one": ONE}, groups_of=GROUPS, note=" On 4 of 5 items.")
    assert noted.get_supxlabel() == "On 4 of 5 items."


def test_no_bit_depends_on_the_order_of_predictions():
    table = drawn_scores(300, list(GROUPS), 0)
    matrices = [
        [axes.images[0].get_array() for axes in plot({"a": predictions}, groups_of=GROUPS).axes[:2]]
        for predictions in (table, table.sample(fraction=1, shuffle=True, seed=1))
    ]
    for one, other in zip(*matrices, strict=True):
        assert one.tobytes() == other.tobytes()


LONG = {"fog": "weather_condition", "scale_xy": "geometric_transform", "canny_edge": "texture_changing"}
GROUP_NAMES = [group.replace("_", " ") for group in LONG.values()]
NAMES = ["A-Very-Long-Model-Name-Of-Sixty-Characters-Instruct-72B-2.5", "Costs $5_and_$6 ^2", "نموذج عربي"]


@pytest.mark.parametrize("corruptions", [1, 2, 3])
def test_few_corruptions_and_long_names_have_room(corruptions: int):
    groups = dict(list(LONG.items())[:corruptions])
    tables = {name: drawn_scores(9, list(groups), seed) for seed, name in enumerate(NAMES)}
    note = "On 37 of 40 items: those for which no target lacks a prediction."
    figure = plot(tables, groups_of=groups, note=note)
    figure.draw_without_rendering()
    matrices, bar = figure.axes[:2], figure.axes[2]
    group_names = [text for text in matrices[0].texts if text.get_text() in GROUP_NAMES]
    others = [text for axes in matrices for text in (axes.title, *axes.get_yticklabels(), *axes.texts)]
    low, high = bar.get_xlim()  # ticks beyond are not drawn
    others += [text for text in bar.get_xticklabels() if low <= text.get_position()[0] <= high]
    others = [text for text in (*others, bar.xaxis.label, *figure.texts) if text.get_text()]
    page, slack = figure.bbox, 3  # of 330
    assert clashes([text for text in others if text not in group_names], page, slack) == []
    # Slanted names of groups have boxes that overlap, but not the title.
    slanted = [text.get_window_extent() for text in group_names]
    assert len(slanted) == corruptions
    assert max(box.y1 for box in slanted) <= matrices[0].title.get_window_extent().y0
    assert all(page.x0 - slack <= box.x0 and box.x1 <= page.x1 + slack for box in slanted)
