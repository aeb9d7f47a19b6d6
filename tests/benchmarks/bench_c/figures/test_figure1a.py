import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from benchc.benchmarks.bench_c.figures.figure1a import ZERO_POSITION, figure1a
from tests.benchmarks.bench_c.figures.drawn import words
from tests.benchmarks.bench_c.figures.figure_tables import selection


def heights(figure: Figure) -> list[list[float]]:
    return [[bar.get_height() for bar in bars] for bars in figure.axes[0].containers]


def test_bars_are_the_shares_counted_by_hand():
    kappas = [0.0, 0.0, 0.0, 0.05, 0.1, 0.1000001, 0.35, 0.5]
    figure = figure1a(selection(kappas, [False] * 5 + [True] * 3))
    # Bins: 0, (0, .1], (.1, .2], (.2, .3], (.3, .4], (.4, .5]; 8 candidates, 3 kept.
    pool, benchmark = heights(figure)
    assert pool == [37.5, 25.0, 12.5, 0.0, 12.5, 12.5]
    assert benchmark == pytest.approx([0, 0, 100 / 3, 0, 100 / 3, 100 / 3])
    shares = ["38", "25", "12", "", "12", "12", "", "", "33", "", "33", "33"]
    assert words(figure.axes[0].texts) == shares
    assert words(figure.legends[0].get_texts()) == ["candidate pool (n = 8)", "benchmark (n = 3)"]


def test_each_pair_of_bars_is_between_the_ends_of_its_bin_the_pool_grey_and_the_benchmark_hatched():
    (axes,) = figure1a(selection([0.0, 0.15, 0.3], [False, True, True])).axes
    labels = dict(zip(axes.get_xticks(), words(axes.get_xticklabels()), strict=True))
    assert labels == {ZERO_POSITION: "κ = 0\n(consistent)", 0: "0", 1: "0.1", 2: "0.2", 3: "0.3"}
    for pool, benchmark, middle in zip(*axes.containers, [ZERO_POSITION, 0.5, 1.5, 2.5], strict=True):
        assert pool.get_x() + pool.get_width() == pytest.approx(middle)
        assert benchmark.get_x() == pytest.approx(middle)
    pool, benchmark = axes.containers
    assert len(set(to_rgb(pool[0].get_facecolor()))) == 1
    assert pool[0].get_hatch() is None
    assert len(set(to_rgb(benchmark[0].get_facecolor()))) == 3
    assert benchmark[0].get_hatch()


@settings(max_examples=25)
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40))
def test_every_item_is_in_one_bar(items: list[tuple[float, bool]]):
    kappas = [kappa for kappa, _ in items]
    kept = [keep and kappa > 0 for kappa, keep in items]
    pool, benchmark = heights(figure1a(selection(kappas, kept)))
    assert sum(pool) == pytest.approx(100 if items else 0)
    assert sum(benchmark) == pytest.approx(100 if any(kept) else 0)
    assert pool[0] == pytest.approx(100 * kappas.count(0) / max(1, len(kappas)))
    for bin_ in range(1, len(pool)):
        count = sum((bin_ - 1) / 10 < kappa <= bin_ / 10 for kappa in kappas)
        assert pool[bin_] == pytest.approx(100 * count / max(1, len(kappas)))


def test_small_shares_are_not_rounded_to_nothing():
    figure = figure1a(selection([0.0] * 995 + [0.15] * 4 + [0.3], [False] * 995 + [True] * 5))
    assert words(figure.axes[0].texts)[:4] == ["100", "", ".4", ".1"]
