from pathlib import Path
from typing import Any

import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import PathPatch

from benchc.benchmarks.bench_c.figures.figure_discrimination import figure_discrimination
from benchc.errors import InputError
from benchc.rendering.style import INK, TEXT_WIDTH
from tests.benchmarks.bench_c.figures.drawn import words
from tests.benchmarks.bench_c.outputs import output

CRITERIA = ("sd", "range", "separable", "kendall")
METRICS = ("acc_clean", "acc_corrupted", "delta_acc", "ras")
ROWS = [(metric, weighting) for metric in METRICS for weighting in ("unweighted", "kappa")]
NUMBERS = ("q025", "q25", "q50", "q75", "q975")
VALUES = ("selected", "share_below", *(f"random_{name}" for name in NUMBERS))


def table(**changes: Any) -> pl.DataFrame:
    """Rows whose numbers all differ; ``changes`` are made to the first row of every criterion."""
    rows = []
    for index, criterion in enumerate(CRITERIA):
        for number, (metric, weighting) in enumerate(ROWS):
            start = 0.1 + 0.02 * number + 0.1 * index
            row = {"criterion": criterion, "metric": metric, "weighting": weighting, "size": 40}
            row |= {"models": 4, "pool_items": 1_240, "selected_items": 40}
            row |= {"selected_evaluated": 40, "unselected_evaluated": 1_200}
            row |= {"selected": start + 0.05, "selected_low": None, "selected_high": None}
            row |= {f"random_{name}": start + 0.03 * step for step, name in enumerate(NUMBERS)}
            row |= {"share_below": 0.1 * number + 0.01 * index}
            rows.append(row | changes if number == 0 else row)
    return pl.DataFrame(rows, infer_schema_length=None)


def boxes(axes: Axes) -> dict[str, tuple[float, float, float, float]]:
    """Height, lower quartile, median and upper quartile by the box's name."""
    dark = [line for line in axes.lines if to_rgb(line.get_color()) == to_rgb(INK)]
    medians = [line.get_xdata()[0] for line in dark if len(line.get_xdata()) == 2]
    patches = [patch for patch in axes.patches if isinstance(patch, PathPatch)]
    found = {}
    for patch, median in zip(patches, medians, strict=True):
        box = patch.get_path().get_extents()
        found[patch.get_label()] = ((box.y0 + box.y1) / 2, box.x0, median, box.x1)
    return found


def diamonds(axes: Axes) -> list[tuple[float, float]]:
    lines = [line for line in axes.lines if line.get_marker() == "D"]
    return [(line.get_ydata()[0], line.get_xdata()[0]) for line in lines]


def test_every_box_diamond_and_share_is_the_tables():
    data = table()
    figure = figure_discrimination(data)
    assert figure.get_figwidth() == TEXT_WIDTH and len(figure.axes) == 3
    for axes, criterion in zip(figure.axes, ("sd", "separable", "kendall"), strict=True):
        drawn = boxes(axes)
        assert list(drawn) == [f"{metric} {weighting}" for metric, weighting in ROWS]
        rows = data.filter(criterion=criterion).rows(named=True)
        heights = []
        for row, (height, *box), (position, value) in zip(rows, drawn.values(), diamonds(axes), strict=True):
            scale = row["random_q50"] if criterion == "sd" else 1
            assert box == pytest.approx([row[f"random_{name}"] / scale for name in ("q25", "q50", "q75")])
            assert value == pytest.approx(row["selected"] / scale)
            assert position == pytest.approx(height)
            heights.append(height)
        assert heights == sorted(heights) and axes.yaxis_inverted()
        texts = {text.get_position()[1]: text.get_text() for text in axes.texts if text.get_text() != "below"}
        # Only unweighted rows have a share: weighted by κ, chance gives no 0.5.
        assert texts == {
            height: f"{row['share_below']:.3f}"
            for height, row in zip(heights, rows, strict=True)
            if row["weighting"] == "unweighted"
        }
    labels = words(figure.axes[0].get_yticklabels())
    assert labels[::2] == ["clean accuracy", "corrupted accuracy", "ΔAcc", "RAS"]
    assert set(labels[1::2]) == {"κ-weighted"}
    for size, text in ((40, "random subsets of 40 items"), (1, "random subsets of 1 item:")):
        (legend,) = figure_discrimination(data.with_columns(size=pl.lit(size))).legends
        assert text in words(legend.get_texts())[0]
    row = data.filter(criterion="separable").row(0, named=True)
    ends = sorted({x for line in figure.axes[1].lines for x in line.get_xdata() if line.get_ydata()[0] == 0})
    assert ends[0] == pytest.approx(row["random_q025"]) and ends[-1] == pytest.approx(row["random_q975"])


def test_subsets_of_the_selected_set_have_a_line_over_95_percent():
    figure = figure_discrimination(table(selected_low=0.11, selected_high=0.19))
    (line,) = [line for line in figure.axes[1].lines if list(line.get_xdata()) == [0.11, 0.19]]
    (height, *_), *others = boxes(figure.axes[1]).values()
    assert height < 0 < line.get_ydata()[0] == diamonds(figure.axes[1])[0][0]
    assert others[0][0] == diamonds(figure.axes[1])[1][0] == 1
    drawings = (
        (figure, "of the selected set: median, 95 %"),
        (figure_discrimination(table()), "selected set"),
    )
    assert all(words(drawing.legends[0].get_texts())[1] == name for drawing, name in drawings)


@pytest.mark.parametrize(
    ("evaluated", "note"),
    [
        ((40, 1_200), ""),
        ((39, 1_200), "Evaluated: 39 of 40 selected items and 1,200 of 1,200 others."),
        ((40, 80), "Evaluated: 40 of 40 selected items and 80 of 1,200 others."),
    ],
)
def test_a_note_says_how_many_items_were_evaluated(evaluated: tuple[int, int], note: str):
    columns = zip(("selected_evaluated", "unselected_evaluated"), evaluated, strict=True)
    data = table().with_columns(pl.lit(count).alias(name) for name, count in columns)
    assert figure_discrimination(data).legends[0].get_title().get_text() == note


def test_one_target_is_a_sentence_and_no_axes():
    figure = figure_discrimination(table().with_columns(models=pl.lit(1)))
    assert figure.axes == [] and figure.legends == []
    assert words(figure.texts) == ["With one target there is nothing to distinguish."]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"random_q50": 0.0, "random_q75": 0.1}, "median 0"), (dict.fromkeys(VALUES), "undefined")],
)
def test_a_row_without_numbers_gives_the_reason(changes: dict[str, Any], reason: str):
    axes = figure_discrimination(table(**changes)).axes[0]
    assert list(boxes(axes)) == [f"{metric} {weighting}" for metric, weighting in ROWS[1:]]
    first = [text.get_text() for text in axes.texts if text.get_position()[1] == 0]
    assert first == ["–" if changes.get("share_below", 0) is None else "0.000", reason]
    assert len(diamonds(axes)) == 7


def test_it_is_drawn_from_a_csv_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    files = {"discrimination": ["d.csv"]}
    with pytest.raises(InputError, match=r"d\.csv: no such file"):
        output("figure_discrimination", files)
    for data in (table(), table().with_columns(pl.lit(None).alias(name) for name in VALUES)):
        data.write_csv("d.csv")
        count = 0 if data["selected"].null_count() else 8
        figure = output("figure_discrimination", files)
        assert [len(boxes(axes)) for axes in figure.axes] == [count] * 3
