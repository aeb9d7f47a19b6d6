import itertools

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_rgb

from benchc.benchmarks.bench_c.figures.figure7 import plot
from tests.benchmarks.bench_c.figures.drawn import words
from tests.benchmarks.bench_c.figures.figure_tables import selection

IDS = ["a/0", "a/1", "a/2", "b/0", "b/1", "c/0"]
POOL = pl.DataFrame({"id": IDS, "source": ["a", "a", "a", "b", "b", "c"]})
SELECTED = selection([0.0, 0.1, 0.2, 0.3, 0.4, 0.0], [False, False, True, True, True, False], IDS)
ORIGINALS = {"a": 10, "b": 4, "c": 7, "d": 1200}
LABELS = {"a": "Set A", "b": "Set B", "c": "Set C", "d": "Set D"}


def test_bars_count_items_by_source_largest_share_first_as_labels_and_legend_say():
    figure = plot(ORIGINALS, POOL, SELECTED, labels=LABELS)
    composition = figure.axes[0]
    assert words(composition.get_yticklabels()) == ["Set B", "Set A", "Set C", "Set D"]
    widths = {bars.get_label(): [bar.get_width() for bar in bars.patches] for bars in composition.containers}
    counts = {"data set": [4, 10, 7, 1200], "candidate pool": [2, 3, 1, 0], "benchmark": [2, 1, 0, 0]}
    assert widths == counts
    # The three bars of a source touch, the middle one at its tick, and the first source is on top.
    for bars, offset in zip(composition.containers, (-0.28, 0, 0.28), strict=True):
        middles = [bar.get_y() + bar.get_height() / 2 for bar in bars]
        assert middles == pytest.approx([position + offset for position in range(4)])
    assert composition.yaxis_inverted()
    drawn = [f"{count:,}" for series in counts.values() for count in series]
    assert words(composition.texts) == [*drawn, "66.7 %", "33.3 %", "0.0 %", "0.0 %"]
    legend = figure.legends[0]
    totals = ["data set (n = 1,221)", "candidate pool (n = 6)", "benchmark (n = 3)", "mean of κ"]
    assert words(legend.get_texts()) == totals
    for handle, bars in zip(legend.legend_handles, figure.axes[0].containers, strict=False):
        assert to_rgb(handle.get_facecolor()) == to_rgb(bars[0].get_facecolor())
        assert handle.get_hatch() == bars[0].get_hatch()


def test_distribution_is_the_histogram_of_kappa():
    generator = np.random.default_rng(2)
    kappas = generator.random(50) * 0.6
    kept = kappas > 0.3
    ids = [f"a/{index}" for index in range(50)]
    pool = pl.DataFrame({"id": ids, "source": ["a"] * 50})
    figure = plot({"a": 50}, pool, selection(kappas.tolist(), kept.tolist(), ids), labels={})
    distribution = figure.axes[1]
    edges = np.linspace(0, kappas.max(), 21)
    drawn = []
    for bars, chosen in zip(distribution.containers, (kappas, kappas[kept]), strict=True):
        assert len(bars) == 20
        for bar, low, high in zip(bars, edges[:-1], edges[1:], strict=True):
            # Only the largest value is on an edge, the last one.
            count = sum(low <= kappa < high or high == kappa == kappas.max() for kappa in chosen)
            assert bar.get_height() == pytest.approx(100 * count / len(chosen))
            assert low < bar.get_x() < bar.get_x() + bar.get_width() < high
            drawn.append((bar.get_x(), bar.get_x() + bar.get_width()))
    drawn.sort()
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(drawn))
    means = [kappas.mean(), kappas[kept].mean()]
    assert [line.get_xdata()[0] for line in distribution.lines] == pytest.approx(means)
    # The means are told apart without colours, beside their lines and away from each other.
    beside = [(text.get_text(), text.xy[0], text.get_ha()) for text in distribution.texts]
    pool_mean, kept_mean = means
    assert beside[0] == (f"pool {pool_mean:.2f}", pool_mean, "right")
    assert beside[1] == (f"benchmark {kept_mean:.2f}", kept_mean, "left")
    others = selection(kappas.tolist(), (~kept).tolist(), ids)
    distribution = plot({"a": 50}, pool, others, labels={}).axes[1]
    assert [text.get_text().split()[0] for text in distribution.texts] == ["benchmark", "pool"]


def test_without_a_kept_item_there_is_no_share_and_no_items_give_an_empty_figure():
    none_kept = selection([0.0] * 6, [False] * 6, IDS)
    composition, distribution = plot(ORIGINALS, POOL, none_kept, labels=LABELS).axes
    assert words(composition.texts)[-4:] == ["–"] * 4
    assert [bar.get_height() for bar in distribution.containers[0]] == [100.0] + [0.0] * 19
    assert {bar.get_height() for bar in distribution.containers[1]} == {0.0}
    assert len(distribution.lines) == 1
    figure = plot({}, POOL.clear(), SELECTED.clear(), labels={})
    assert not figure.axes[0].patches
    assert figure.legends[0].get_texts()[0].get_text() == "data set (n = 0)"


def test_tables_of_different_items_are_refused():
    message = r"1 item in only one of pool and selection, such as c/0; delete selection in the run's folder"
    with pytest.raises(ValueError, match=message):
        plot(ORIGINALS, POOL, SELECTED.head(5), labels=LABELS)
    with pytest.raises(ValueError, match="has items of b, c, whose file is missing"):
        plot({"a": 10}, POOL, SELECTED, labels=LABELS)
