from pathlib import Path

import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from benchc.benchmarks.bench_c.figures.figure_option_order import OFFSET, figure_option_order
from benchc.benchmarks.bench_c.metrics.option_order import OPTION_ORDER, measure_predictions
from benchc.benchmarks.bench_c.metrics.option_order import option_order as computed
from benchc.errors import InputError
from benchc.rendering.style import BLUE, COLUMN_WIDTH, SKY_BLUE, VERMILLION
from tests.benchmarks.bench_c.metrics.order_tables import drawn_predictions, items_of
from tests.benchmarks.bench_c.outputs import output


def row(label: str, corruption: str | None, changed: float, mean: float, part: float, **more: object):
    values = {"label": label, "corruption": corruption, "severity": 0 if corruption == "clean" else 4}
    values |= {"changed": changed, "changed_low": changed - 0.1, "changed_high": changed + 0.05}
    values |= {"items": 17, "entropy_orders": mean, "order_part": part, "spearman": 0.25, **more}
    return {name: values.get(name) for name in OPTION_ORDER}


TABLE = pl.DataFrame(
    [
        row("One", "clean", 0.2, 0.3, 0.1),
        row("One", None, 0.4, 0.5, 0.2, spearman=-0.3456),
        row("One", "fog", 0.9, 0.9, 0.1),
        row("Two", "clean", 0.0, 0.6, 0.0, changed_low=None, changed_high=None),
        row("Two", None, 0.0, 0.7, 0.0, changed_low=None, changed_high=None, spearman=None),
    ],
    schema=OPTION_ORDER,
)


def points(axes: Axes) -> list[tuple[float, float, bool]]:
    """Value and height of every marker, and whether it is filled."""
    return [
        (line.get_xdata()[0], line.get_ydata()[0], to_rgb(line.get_markerfacecolor()) == to_rgb(BLUE))
        for line in axes.lines
        if line.get_marker() == "o"
    ]


def bars(axes: Axes) -> list[tuple[float, float, float, tuple[float, ...]]]:
    """Left end, right end, middle and colour of every bar."""
    return [
        (
            patch.get_x(),
            patch.get_x() + patch.get_width(),
            patch.get_y() + patch.get_height() / 2,
            to_rgb(patch.get_facecolor()),
        )
        for patch in axes.patches
        if isinstance(patch, Rectangle)
    ]


def test_marks_are_the_tables_values():
    left, right = figure_option_order(TABLE).axes
    heights = [-OFFSET, OFFSET, 1 - OFFSET, 1 + OFFSET]
    assert points(left) == [
        (value, height, filled)
        for value, height, filled in zip((0.2, 0.4, 0.0, 0.0), heights, (False, True) * 2, strict=True)
    ]
    ends = [tuple(line.get_xdata()) for line in left.lines if line.get_marker() == "None"]
    assert ends == [pytest.approx((0.1, 0.25)), pytest.approx((0.3, 0.45))]
    mean, part = to_rgb(SKY_BLUE), to_rgb(VERMILLION)
    expected = [(0, 0.3, mean), (0.3, 0.4, part), (0, 0.5, mean), (0.5, 0.7, part)]
    expected += [(0, 0.6, mean), (0.6, 0.6, part), (0, 0.7, mean), (0.7, 0.7, part)]
    for (start, end, height, colour), wanted, at in zip(
        bars(right), expected, [height for height in heights for _ in range(2)], strict=True
    ):
        assert (start, end, height) == pytest.approx((*wanted[:2], at)) and colour == pytest.approx(wanted[2])
    assert [text.get_text() for text in right.texts] == ["−0.346", "–", "ρ"]


def test_names_axes_and_legend():
    figure = figure_option_order(TABLE)
    left, right = figure.axes
    assert figure.get_figwidth() == COLUMN_WIDTH
    assert [text.get_text() for text in left.get_yticklabels()] == ["One", "Two"]
    assert left.get_ylim()[0] > left.get_ylim()[1]  # the first target is at the top
    assert left.get_xlim() == right.get_xlim() == (0, 1)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["clean (above)", "severity 4 (below)", "mean over orders", "order part"]
    assert figure.legends[0].get_title().get_text() == "17 items in all circular orders of the options"
    # ρ is over corrupted predictions, so it is next to these.
    assert [text.get_position()[1] for text in right.texts[:2]] == [OFFSET, 1 + OFFSET]


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts that are drawn over each other, or out of the page."""
    figure.draw_without_rendering()
    page = figure.bbox
    texts = [
        text
        for axes in figure.axes
        for text in (*axes.get_yticklabels(), axes.xaxis.label, axes.title, axes._left_title, *axes.texts)
        if text.get_text() and text.get_visible()
    ]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    clashes = [(a, b) for k, (a, box) in enumerate(boxes) for b, other in boxes[:k] if box.overlaps(other)]
    outside = [(name, "page") for name, box in boxes if box.x0 < page.x0 - 1 or box.x1 > page.x1 + 1]
    return clashes + outside


def test_one_target_and_thirteen_have_room():
    items = items_of([2, 3, 4, 5])
    labels = [f"Vision-Language-{number:02}B" for number in range(13)]
    measures = {
        label: measure_predictions(drawn_predictions(items, seed), items) for seed, label in enumerate(labels)
    }
    table = computed(measures, dict.fromkeys(labels, "letter"), draws=20)
    for part in (table, table.filter(label=labels[0])):
        figure = figure_option_order(part)
        count = part["label"].n_unique()
        assert len(points(figure.axes[0])) == 2 * count and len(bars(figure.axes[1])) == 4 * count
        assert overlapping(figure) == []


@pytest.mark.filterwarnings("ignore:no installed font")
def test_long_names_and_code_points_have_room():
    items = items_of([2, 3, 4, 5])
    labels = [
        "文物" * 20,
        "Vision-Language-Model-7B-Instruct",
        "Vision-Language-Chat-7B-Instruct",
        "$5_and_$6",
    ]
    measures = {
        label: measure_predictions(drawn_predictions(items, seed), items) for seed, label in enumerate(labels)
    }
    figure = figure_option_order(computed(measures, dict.fromkeys(labels, "letter"), draws=20))
    assert overlapping(figure) == []
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert len(set(names)) == 4 and names[3] == "$5_and_$6"
    assert not any(text.get_parse_math() for text in figure.axes[0].get_yticklabels())


def test_it_is_drawn_from_the_csv_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    TABLE.write_csv("t.csv")
    figure = output("figure_option_order", {"option_order": ["t.csv"]})
    assert points(figure.axes[0]) == points(figure_option_order(TABLE).axes[0])
    with pytest.raises(InputError, match=r"no\.csv: no such file; run snakemake to create it"):
        output("figure_option_order", {"option_order": ["no.csv"]})


def test_a_table_without_targets_is_refused():
    with pytest.raises(InputError, match="has no target"):
        figure_option_order(TABLE.clear())
