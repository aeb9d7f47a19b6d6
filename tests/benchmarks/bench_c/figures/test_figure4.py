import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from benchc.benchmarks.bench_c.figures.figure4 import figure4
from benchc.benchmarks.bench_c.figures.regimes import COLOURS
from tests.benchmarks.bench_c.figures.figure_tables import drawn_scores, score, scores

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


def test_points_are_at_their_shifts_in_the_right_panels():
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
    assert [axes.get_title() for axes in (everything, kept, shifted)] == [
        "(a) All samples (n = 6)",
        "(b) Prediction unchanged (n = 3)",
        "(c) Prediction shifted (n = 3)",
    ]


def test_numbers_of_each_quadrant_by_hand():
    everything, kept, shifted = (quadrants(axes) for axes in plot().axes)
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
                assert (x > 0, y > 0) == {
                    "degraded": (True, True),
                    "overconfident": (False, True),
                    "hesitant": (True, False),
                    "stable": (False, False),
                }[regime]
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


def test_many_points_against_plain_python():
    table = drawn_scores(80, ["snow", "fog"], seed=3)
    figure = figure4(table, label="t", corruption="fog", severity=1)
    rows = [row for row in table.rows(named=True) if row["corruption"] == "fog" and row["severity"] == 1]
    chosen = (
        rows,
        [row for row in rows if row["prediction"] == row["prediction_clean"]],
        [row for row in rows if row["prediction"] != row["prediction_clean"]],
    )
    for axes, expected in zip(figure.axes, chosen, strict=True):
        drawn = sorted(position for positions in points(axes).values() for position in positions)
        assert drawn == sorted((row["delta_entropy"], row["delta_calibration"]) for row in expected)
        for name, (count, ras, accuracy) in quadrants(axes).items():
            members = [row for row in expected if row["regime"] == name.lower()]
            assert count.startswith(f"n = {len(members)} (")
            mean = sum(row["ras"] for row in members) / len(members)
            assert float(ras.removeprefix("RAS ").replace("−", "-")) == pytest.approx(mean, abs=6e-4)
            mean = sum(row["correct"] - row["correct_clean"] for row in members) / len(members)
            assert float(accuracy.removeprefix("ΔAcc ").replace("−", "-")) == pytest.approx(mean, abs=6e-4)


def test_a_corruption_or_severity_that_was_not_scored_is_named():
    with pytest.raises(
        ValueError, match=r"a target has no scores for frost at severity 5.*fog 5, snow 4, snow 5"
    ):
        figure4(scores(ROWS), label="a target", corruption="frost", severity=5)
    with pytest.raises(ValueError, match="severity 3"):
        figure4(scores(ROWS), label="a target", corruption="snow", severity=3)


def test_an_empty_benchmark_gives_empty_panels():
    figure = plot([])
    assert [points(axes) for axes in figure.axes] == [{}, {}, {}]
    assert quadrants(figure.axes[0])["Stable"] == ["n = 0", "RAS –", "ΔAcc –"]
    assert figure.get_suptitle() == "a target, snow at severity 5"
