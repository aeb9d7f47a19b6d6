import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchc.benchmarks.bench_c.metrics.table2 import SENSITIVITY, TABLE2, sensitivity, table2
from tests.benchmarks.bench_c.figures.figure_tables import drawn_scores


def scores(
    ras: dict[tuple[str, int], list[float]], correct: dict[tuple[str, int], list[bool]]
) -> pl.DataFrame:
    """Items that were wrong when clean, from their values per (corruption, severity)."""
    rows = [
        (f"s/{item}", *cell, value, right, False)
        for cell, values in ras.items()
        for item, (value, right) in enumerate(zip(values, correct[cell], strict=True))
    ]
    columns = ["id", "corruption", "severity", "ras", "correct", "correct_clean"]
    return pl.DataFrame(rows, schema=columns, orient="row")


# Shifts of RAS by 0, 0, 1: mean 1/3, SD sqrt(2)/3. Of accuracy by 1, -1, 0: mean 0, SD sqrt(2/3).
HAND = scores(
    {("fog", 2): [0.0, 0.5, -1.0], ("fog", 4): [0.0, 0.5, 0.0]},
    {("fog", 2): [False, True, True], ("fog", 4): [True, False, True]},
)


def test_z_by_hand():
    table = sensitivity(HAND)
    assert dict(table.schema) == SENSITIVITY
    (row,) = table.rows(named=True)
    assert (row["corruption"], row["steps"], row["steps_excluded"]) == ("fog", 1, 0)
    assert row["mean_abs_z_ras"] == pytest.approx((1 / 3) / (np.sqrt(2) / 3))
    assert row["mean_abs_z_delta_acc"] == pytest.approx((2 / 3) / np.sqrt(2 / 3))
    (centred,) = sensitivity(HAND, centred=True).rows(named=True)
    assert centred["mean_abs_z_ras"] == pytest.approx((4 / 9) / (np.sqrt(2) / 3))
    assert centred["mean_abs_z_delta_acc"] == pytest.approx((2 / 3) / np.sqrt(2 / 3))
    more = pl.concat([HAND, HAND.filter(severity=2).head(1).with_columns(id=pl.lit("s/9"))])
    assert sensitivity(more).equals(sensitivity(HAND))


@settings(max_examples=40)
@given(st.integers(0, 2**20), st.booleans())
def test_agrees_with_scipy_in_any_order_of_rows(seed, centred):
    frame = drawn_scores(12, ["fog", "snow", "frost", "spatter"], seed)
    table = sensitivity(frame, centred=centred)
    assert sensitivity(frame.sample(fraction=1, shuffle=True, seed=seed), centred=centred).equals(table)
    for row in table.iter_rows(named=True):
        wide = frame.filter(corruption=row["corruption"]).sort("severity", "id")
        if row["steps"] == 0:
            continue
        for name, column in (("ras", "ras"), ("delta_acc", "correct")):
            before, after = wide[column].cast(pl.Float64).to_numpy().reshape(2, -1)
            shift = after - before
            z = stats.zscore(shift) if centred else shift / shift.std()
            assert row[f"mean_abs_z_{name}"] == pytest.approx(np.abs(z).mean())
    (row,) = table2({"A": table}).rows(named=True)
    if row["t"] is not None:
        pairs = table.drop_nulls()["mean_abs_z_ras", "mean_abs_z_delta_acc"].to_numpy()
        expected = stats.ttest_rel(*pairs.T, alternative="greater")
        assert (row["t"], row["p"]) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))


def test_a_step_without_spread_is_left_out_and_noted():
    # 0.7 - 0.6 and 0.3 - 0.2 differ in the last bits only: that is no spread.
    frame = scores(
        {("fog", 1): [0.6, 0.2], ("fog", 2): [0.7, 0.3], ("fog", 3): [0.7, 0.5], ("fog", 4): [0.8, 0.5]},
        {("fog", 1): [True, False], ("fog", 2): [False, False]} | {("fog", n): [True, False] for n in (3, 4)},
    )
    table = sensitivity(frame)
    # The other step shifts both metrics on one item alone: mean and SD are equal.
    assert table.row(0)[1:] == pytest.approx((1, 2, 1, 1))
    (row,) = table2({"A": table}).rows(named=True)
    assert (row["pairs"], row["t"], row["p"]) == (1, None, None)
    assert "z undefined at 2 steps," in row["note"] and "two are needed" in row["note"]


@pytest.mark.parametrize(
    ("frame", "note"),
    [
        (HAND.filter(severity=2), "one severity"),
        (HAND.filter(id="s/0"), "z undefined at 1 step,"),  # one item
        (
            HAND.with_columns(ras=0.5),
            "z undefined at 1 step, where a metric shifts equally on all items; t and",
        ),
        (
            pl.concat([HAND, HAND.with_columns(corruption=pl.lit("snow"))]).with_columns(ras=0.5),
            "z undefined at 2 steps, where",
        ),
        (HAND, "t and p undefined: 1 corruption"),
        (pl.concat([HAND, HAND.with_columns(corruption=pl.lit("snow"))]), "same under every corruption"),
    ],
)
def test_what_is_undefined_is_null_with_a_reason(frame, note):
    table = table2({"A": sensitivity(frame)})
    assert dict(table.schema) == TABLE2
    assert table["t"].to_list() == table["p"].to_list() == [None]
    assert note in table["note"][0]
    assert not any(isinstance(value, float) and np.isnan(value) for value in table.row(0))
