import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.statistics.rank_swaps import LEVEL, columns_of, holm, swap_p, swap_table


def test_p_by_hand():
    # Direction (+, -): 1 of 9 draws is not above 0, 2 are not below; p = 2 * 3 / 10.
    first = [1, 1, 1, 1, 1, 1, 1, 1, 0]
    second = [-1, -1, -1, -1, -1, -1, -1, 0, 1]
    differences = np.array([first, second], dtype=float).T
    assert swap_p(differences) == pytest.approx(0.6)
    assert swap_p(-differences) == swap_p(differences[:, ::-1]) == pytest.approx(0.6)
    assert swap_p(np.abs(differences)) == 1.0  # the same sign
    assert swap_p(np.vstack([differences, [[np.nan, 1.0]]])) == pytest.approx(0.6)
    assert swap_p(np.full((3, 2), np.nan)) is None
    # 3 of 9 draws are not below 0: p = 2 * 4 / 10.
    differences[0, 1] = 1
    assert swap_p(differences) == swap_p(-differences) == pytest.approx(0.8)


def test_holm_by_hand():
    p_values = pl.Series([0.01, 0.04, None, 0.03, 0.005, 0.9])
    assert holm(p_values).to_list() == pytest.approx([0.04, 0.09, None, 0.09, 0.025, 0.9])
    assert holm(pl.Series([], dtype=pl.Float64)).to_list() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_keeps_the_order_between_the_bounds_of_bonferroni(values):
    adjusted = holm(pl.Series(values)).to_list()
    for value, larger in zip(values, adjusted, strict=True):
        assert value <= larger <= min(1.0, value * len(values)) or larger == max(
            other for other, raw in zip(adjusted, values, strict=True) if raw <= value
        )
    order = np.argsort(values, kind="stable")
    assert (np.diff(np.array(adjusted)[order]) >= 0).all()
    assert adjusted[order[0]] == pytest.approx(min(1.0, values[order[0]] * len(values)))


def row_of(first, second):
    return swap_table(["a", "b"], [first, second], ["x", "y"]).row(0, named=True)


def test_a_p_of_the_level_itself_is_a_swap_and_differences_of_rounding_are_ties():
    row = row_of(np.tile([0.6, 0.3], (40, 1)), np.tile([0.5, 0.4], (40, 1)))
    # In none of 39 draws does a sign fail: 2 / 40.
    assert (row["p"], row["p_holm"]) == (LEVEL, LEVEL) and row["swap"] and row["opposite"]
    # A smaller p is one, too; of equal signs none is.
    for ahead, p, swap in ([0.6, 0.3], 0.02, True), ([0.6, 0.5], 1.0, False):
        row = row_of(np.tile(ahead, (100, 1)), np.tile([0.5, 0.4], (100, 1)))
        assert (row["p"], row["swap"], row["opposite"]) == (p, swap, swap)
    drawn = [np.tile([0.3, 0.1 + 0.2], (100, 1)), np.tile([0.1 + 0.2, 0.3], (100, 1))]
    assert (np.sign(drawn[0] - drawn[1]) == [-1, 1]).all()
    row = row_of(*drawn)
    assert (row["opposite"], row["p"], row["swap"]) == (False, 1.0, False)


def test_differences_are_of_the_sample_and_intervals_of_the_resamples():
    # The ends of 41 resamples are the second and the last but one.
    resamples = np.arange(1.0, 42)[:, None] / 100
    drawn = np.vstack([[[0.9, -0.9]], resamples * [1, 2]])
    other = np.vstack([[[0.25, 0.5]], np.zeros((41, 2))])
    row = row_of(drawn, other)
    assert (row["x_difference"], row["y_difference"], row["opposite"]) == (0.65, -1.4, True)
    assert (row["x_low"], row["x_high"], row["y_low"], row["y_high"]) == (0.02, 0.4, 0.04, 0.8)
    table = swap_table(["a", "b"], [drawn, other], ["x", "y"], note="one item")
    of_sample = table.select("x_a", "x_b", "x_difference", "y_a", "y_b", "y_difference").row(0)
    assert of_sample == (0.9, 0.25, 0.65, -0.9, 0.5, -1.4)
    missing = [f"{metric}_{end}" for metric in "xy" for end in ("low", "high")]
    assert table.select(*missing, "p", "p_holm", "swap").row(0) == (None,) * 7
    assert table["opposite"][0] and table["note"][0] == "one item"
    drawn[0] = np.nan, 0.9
    row = row_of(drawn, other)
    assert row["opposite"] is None and row["x_low"] == 0.02 and row["p"] == 1 and row["note"] is None
    assert swap_table(["a"], [drawn], ["x", "y"]).schema == pl.Schema(columns_of(["x", "y"]))
