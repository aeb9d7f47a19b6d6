from pathlib import Path

import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from benchc.benchmarks.bench_c.figures.figure_option_order import OFFSET, figure_option_order
from benchc.benchmarks.bench_c.metrics.option_order import OPTION_ORDER, measure_predictions
from benchc.benchmarks.bench_c.metrics.option_order import option_order as computed
from benchc.errors import InputError
from benchc.rendering.style import BLUE, COLUMN_WIDTH, SKY_BLUE, VERMILLION
from tests.benchmarks.bench_c.figures.drawn import clashes, words
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
    patches = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    boxes = [(patch.get_bbox(), to_rgb(patch.get_facecolor())) for patch in patches]
    return [(box.x0, box.x1, (box.y0 + box.y1) / 2, colour) for box, colour in boxes]


def test_marks_names_axes_and_legend_are_the_tables():
    figure = figure_option_order(TABLE)
    left, right = figure.axes
    heights = [-OFFSET, OFFSET, 1 - OFFSET, 1 + OFFSET]
    assert points(left) == [*zip((0.2, 0.4, 0.0, 0.0), heights, (False, True) * 2, strict=True)]
    ends = [tuple(line.get_xdata()) for line in left.lines if line.get_marker() == "None"]
    assert ends == [pytest.approx((0.1, 0.25)), pytest.approx((0.3, 0.45))]
    mean, part = to_rgb(SKY_BLUE), to_rgb(VERMILLION)
    expected = [(0, 0.3, mean), (0.3, 0.4, part), (0, 0.5, mean), (0.5, 0.7, part)]
    expected += [(0, 0.6, mean), (0.6, 0.6, part), (0, 0.7, mean), (0.7, 0.7, part)]
    places = [height for height in heights for _ in range(2)]
    for (*place, colour), wanted, at in zip(bars(right), expected, places, strict=True):
        assert place == pytest.approx([*wanted[:2], at]) and colour == pytest.approx(wanted[2])
    assert words(right.texts) == ["−0.346", "–", "ρ"]
    assert figure.get_figwidth() == COLUMN_WIDTH
    assert words(left.get_yticklabels()) == ["One", "Two"]
    assert left.get_ylim()[0] > left.get_ylim()[1]  # the first target is at the top
    assert left.get_xlim() == right.get_xlim() == (0, 1)
    assert words(figure.legends[0].get_texts()) == [
        "clean (above)",
        "severity 4 (below)",
        "mean over orders",
        "order part",
    ]
    assert figure.legends[0].get_title().get_text() == "17 items in all circular orders of the options"
    # ρ is over corrupted predictions, so it is next to these.
    assert [text.get_position()[1] for text in right.texts[:2]] == [OFFSET, 1 + OFFSET]


LONG = ["文物" * 20, "Vision-Language-Model-7B-Instruct", "Vision-Language-Chat-7B-Instruct", "$5_and_$6"]


@pytest.mark.filterwarnings("ignore:no installed font")
@pytest.mark.parametrize(
    "labels", [["One"], [f"Vision-Language-{number:02}B" for number in range(13)], LONG], ids=len
)
def test_one_target_thirteen_and_long_names_have_room(labels: list[str]):
    items = items_of([2, 3, 4, 5])
    predictions = {label: drawn_predictions(items, seed) for seed, label in enumerate(labels)}
    measures = {label: measure_predictions(table, items) for label, table in predictions.items()}
    figure = figure_option_order(computed(measures, dict.fromkeys(labels, "letter"), draws=20))
    left, right = figure.axes
    assert len(points(left)) == 2 * len(labels) and len(bars(right)) == 4 * len(labels)
    figure.draw_without_rendering()
    texts = [
        text
        for axes in figure.axes
        for text in (*axes.get_yticklabels(), axes.xaxis.label, axes.title, axes._left_title, *axes.texts)
        if text.get_text() and text.get_visible()
    ]
    assert clashes(texts, figure.bbox, 1) == []
    names = words(left.get_yticklabels())
    assert len({*names}) == len(labels) and names[-1] == labels[-1]
    assert not any(text.get_parse_math() for text in left.get_yticklabels())


def test_it_is_drawn_from_the_csv_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    TABLE.write_csv("t.csv")
    figure = output("figure_option_order", {"option_order": ["t.csv"]})
    assert points(figure.axes[0]) == points(figure_option_order(TABLE).axes[0])
    with pytest.raises(InputError, match=r"no\.csv: no such file; run snakemake to create it"):
        output("figure_option_order", {"option_order": ["no.csv"]})
    with pytest.raises(InputError, match="has no target"):
        figure_option_order(TABLE.clear())
