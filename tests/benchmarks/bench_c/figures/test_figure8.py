import polars as pl
import pytest
from matplotlib.colors import to_rgb

from benchc.benchmarks.bench_c.figures.figure8 import figure8
from benchc.rendering.style import COLUMN_WIDTH, TEXT_WIDTH
from tests.benchmarks.bench_c.figures.drawn import words
from tests.benchmarks.bench_c.figures.figure_tables import selection


def tables(tasks: list[str], kept: list[bool]) -> tuple[pl.DataFrame, pl.DataFrame]:
    ids = [f"s/{index}" for index in range(len(tasks))]
    return pl.DataFrame({"id": ids, "task": tasks}), selection([0.5] * len(tasks), kept, ids)


def test_bars_count_tasks_most_kept_first_then_most_candidates_then_name():
    tasks = ["map", "map", "web", "web", "web", "chart", "art", "zoo", "zoo"]
    kept = [True, False, True, False, False, False, False, True, True]
    figure = figure8(*tables(tasks, kept))
    (axes,) = figure.axes
    assert words(axes.get_yticklabels()) == ["zoo", "web", "map", "art", "chart"]
    candidates, benchmark = axes.containers
    assert [bar.get_width() for bar in candidates] == [2, 3, 2, 1, 1]
    assert [bar.get_width() for bar in benchmark] == [2, 1, 1, 0, 0]
    assert words(axes.texts) == ["2 / 2", "1 / 3", "1 / 2", "0 / 1", "0 / 1"]
    for position, (behind, front) in enumerate(zip(candidates, benchmark, strict=True)):
        assert behind.get_y() + behind.get_height() / 2 == pytest.approx(position)
        assert front.get_bbox().y0 == behind.get_bbox().y0
    assert axes.yaxis_inverted()
    grey = to_rgb(candidates[0].get_facecolor())
    assert len(set(grey)) == 1 and grey[0] > 0.75
    assert candidates[0].get_hatch() is None and benchmark[0].get_hatch()
    (legend,) = figure.legends
    assert words(legend.get_texts()) == ["candidates (n = 9)", "benchmark (n = 4)"]
    assert [handle.get_hatch() for handle in legend.legend_handles] == [None, benchmark[0].get_hatch()]


def test_sixty_tasks_fit_on_a_page_and_long_names_take_the_width_of_the_text_and_are_shortened():
    figure = figure8(*tables([f"task {number}" for number in range(60)], [True] * 60))
    assert figure.get_figheight() < 9  # a page of a two-column paper
    assert figure.get_figwidth() == COLUMN_WIDTH
    name = "structuralized image-text understanding"
    figure = figure8(*tables([name, "word " * 40], [True, True]))
    assert figure.get_figwidth() == TEXT_WIDTH
    (short,) = {*words(figure.axes[0].get_yticklabels())} - {name}
    assert "…" in short and len(short) <= 60


def test_no_item_and_tables_of_different_items():
    pool, selected = tables(["map", "web"], [True, False])
    assert not figure8(pool.clear(), selected.clear()).axes[0].patches
    message = r"1 item in only one of pool and selection, such as s/1; delete selection in the run's folder"
    with pytest.raises(ValueError, match=message):
        figure8(pool.head(1), selected)
