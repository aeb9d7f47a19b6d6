import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from benchc.benchmarks.bench_c.figures.figure4 import figure4
from benchc.benchmarks.bench_c.figures.regimes import COLOURS
from tests.benchmarks.bench_c.figures.figure_tables import score, scores

ROWS = [
    score("s/0", 0.2, 0.3, -0.3, "RR"),
    score("s/1", 0.1, 0.4, -0.4, "RW"),
    score("s/2", -0.2, 0.1, -0.12, "WW"),
    score("s/3", -0.3, 0.2, -0.26, "WW", shifted=True),
    score("s/4", -0.1, -0.2, 0.2, "WR"),
    score("s/5", 0.0, 0.0, 0.0, "RR"),
    score("s/0", 0.9, 0.9, -0.9, "RW", severity=4),
    score("s/1", 0.9, 0.9, -0.9, "RW", corruption="fog"),
]


def plot(rows: list[dict[str, object]] | None = None) -> Figure:
    table = scores(ROWS if rows is None else rows)
    return figure4(table, label="a target", corruption="snow", severity=5)


def points(axes: Axes) -> dict[str, list[tuple[float, float]]]:
    """The drawn positions by the artist's name, which is "regime transition"."""
    return {
        str(artist.get_label()): [tuple(position) for position in artist.get_offsets().tolist()]
        for artist in axes.collections
    }


def quadrants(axes: Axes) -> dict[str, list[str]]:
    texts = [text.get_text() for text in axes.texts]
    return {texts[start]: texts[start + 1 : start + 4] for start in range(0, len(texts), 4)}


def test_points_are_at_their_shifts_in_the_right_panels_and_numbers_of_quadrants_by_hand():
    everything, kept, shifted = plot().axes
    assert points(everything) == {
        "degraded RR": [(0.2, 0.3)],
        "degraded RW": [(0.1, 0.4)],
        "overconfident WW": [(-0.2, 0.1), (-0.3, 0.2)],
        "stable WR": [(-0.1, -0.2)],
        "stable RR": [(0.0, 0.0)],
    }
    assert points(kept) == {
        "degraded RR": [(0.2, 0.3)],
        "overconfident WW": [(-0.2, 0.1)],
        "stable RR": [(0.0, 0.0)],
    }
    assert points(shifted) == {
        "degraded RW": [(0.1, 0.4)],
        "overconfident WW": [(-0.3, 0.2)],
        "stable WR": [(-0.1, -0.2)],
    }
    assert everything.get_title() == "(a) All samples (n = 6)"
    assert kept.get_title() == "(b) Prediction unchanged (n = 3)"
    assert shifted.get_title() == "(c) Prediction shifted (n = 3)"
    everything, kept, shifted = (quadrants(axes) for axes in (everything, kept, shifted))
    assert everything == {
        "Overconfident": ["n = 2 (33 %)", "RAS −0.190", "ΔAcc 0.000"],
        "Degraded": ["n = 2 (33 %)", "RAS −0.350", "ΔAcc −0.500"],
        "Stable": ["n = 2 (33 %)", "RAS +0.100", "ΔAcc +0.500"],
        "Hesitant": ["n = 0", "RAS –", "ΔAcc –"],
    }
    assert kept["Degraded"] == ["n = 1 (33 %)", "RAS −0.300", "ΔAcc 0.000"]
    assert kept["Stable"] == ["n = 1 (33 %)", "RAS 0.000", "ΔAcc 0.000"]
    assert shifted["Overconfident"] == ["n = 1 (33 %)", "RAS −0.260", "ΔAcc 0.000"]
    assert shifted["Stable"] == ["n = 1 (33 %)", "RAS +0.200", "ΔAcc +1.000"]


def test_names_are_in_their_quadrants_in_the_colour_of_their_points():
    for axes in plot().axes:
        for text in axes.texts:
            regime = text.get_text().lower()
            if regime in COLOURS:
                x, y = text.get_position()
                assert (x > 0) == (regime in ("degraded", "hesitant"))
                assert (y > 0) == (regime in ("degraded", "overconfident"))
                assert text.get_ha() == ("right" if x > 0 else "left")
                assert to_rgb(text.get_color()) == to_rgb(COLOURS[regime])
        for artist in axes.collections:
            regime = str(artist.get_label()).split()[0]
            assert to_rgb(artist.get_facecolor()[0]) == to_rgb(COLOURS[regime])
    assert len(set(COLOURS.values())) == 4


def test_all_points_are_inside_the_axes_and_no_number_overlaps_them():
    for spread in (0.04, 0.3, 1.0):
        figure = plot([score("s/0", spread, -spread, 0.0, "RW"), score("s/1", -spread, spread, 0.0, "WR")])
        for axes in figure.axes:
            assert axes.get_xlim()[1] >= spread
            assert min(abs(text.get_position()[1]) for text in axes.texts) > spread
    # ... and axes are no wider than they need be.
    assert plot([score("s/0", 0.04, 0.01, 0.0, "RR")]).axes[0].get_xlim()[1] < 0.11


def test_what_was_not_scored_is_named_and_an_empty_benchmark_gives_empty_panels():
    for corruption, severity in (("frost", 5), ("snow", 3)):
        message = f"a target has no scores for {corruption} at severity {severity}.*fog 5, snow 4, snow 5"
        with pytest.raises(ValueError, match=message):
            figure4(scores(ROWS), label="a target", corruption=corruption, severity=severity)
    figure = plot([])
    assert [points(axes) for axes in figure.axes] == [{}, {}, {}]
    assert quadrants(figure.axes[0])["Stable"] == ["n = 0", "RAS –", "ΔAcc –"]
    assert figure.get_suptitle() == "a target, snow at severity 5"
