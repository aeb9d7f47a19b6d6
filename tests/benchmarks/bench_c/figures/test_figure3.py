import polars as pl
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from benchc.benchmarks.bench_c.figures.figure3 import plot as plot_figure3
from benchc.benchmarks.bench_c.figures.regimes import COLOURS
from benchc.rendering.style import COLUMN_WIDTH, POOL_FILL
from tests.benchmarks.bench_c.figures.case_tables import FOUR, cases, heights
from tests.benchmarks.bench_c.figures.drawn import words


def plot(table: pl.DataFrame) -> Figure:
    return plot_figure3(table, label="a target")


def test_bars_are_the_probabilities_of_the_prediction_of_the_panels_regime():
    # Given in another order than drawn.
    table = cases(*FOUR).reverse()
    figure = plot(table)
    assert figure.get_figwidth() == COLUMN_WIDTH
    for axes, regime in zip(figure.axes, ["degraded", "overconfident", "hesitant", "stable"], strict=True):
        (row,) = table.filter(regime=regime).rows(named=True)
        assert regime in axes.get_title(loc="left")
        drawn = heights(axes)
        assert drawn == {"clean": row["probabilities_clean"], "corrupted": row["probabilities"]}
        fills = {bars.get_label(): to_rgb(bars[0].get_facecolor()[:3]) for bars in axes.containers}
        assert fills == {"clean": to_rgb(POOL_FILL["facecolor"]), "corrupted": to_rgb(COLOURS[regime])}


def test_bars_of_an_option_touch_above_its_letter_and_words_name_the_prediction():
    panels = plot(cases(*FOUR)).axes
    for option, (clean, corrupted) in enumerate(zip(*panels[0].containers, strict=True)):
        assert clean.get_x() + clean.get_width() == pytest.approx(option)
        assert corrupted.get_x() == pytest.approx(option)
    letters = panels[0].get_xticklabels()
    assert words(letters) == ["A", "B✓", "C"]
    assert [text.get_fontweight() for text in letters] == ["normal", "bold", "normal"]
    first, _, third, _ = (axes.get_xlabel().splitlines() for axes in panels)
    assert first[:2] == ["ΔS +0.200, ΔC +0.300", "RAS −0.300, right → wrong"]
    assert first[2:] == ["zoom blur at severity 2", "s/0"]
    assert third[:2] == ["ΔS +0.125, ΔC −0.500", "RAS +0.438, wrong → right"]
    # Predictions carry their heights: 1 : 1/2 : 1/4 clean, that reversed and 0.01 more when corrupted.
    heights_of = [(text.get_text(), round(text.xy[0], 2)) for text in panels[1].texts]
    assert heights_of == [(".57", 0.0), (".58", 2.0)]


def test_a_regime_without_a_prediction_no_prediction_at_all_and_many_options():
    figure = plot(cases(*FOUR[:1]))
    assert [len(axes.containers) for axes in figure.axes] == [2, 0, 0, 0]
    assert [text.get_text() for text in figure.axes[1].texts] == ["no samples"]
    assert all(not axes.containers for axes in plot(cases()).axes)
    axes = plot(cases(*FOUR, options=26, answer=25)).axes[0]
    assert len(heights(axes)["clean"]) == 26
    assert axes.get_xticklabels()[25].get_text() == "Z\n✓"
