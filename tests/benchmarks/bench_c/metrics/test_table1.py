import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.table1 import HIGHER_IS_BETTER, TABLE1, best_rows, rank, table1
from benchc.schemas.models import Model

STRONG = Model("strong", "Strong", 2025, 8.0)
WEAK = Model("weak", "Weak", None, None)
WEIGHTS = pl.DataFrame({"id": ["a/1", "a/2"], "kappa": [0.25, 0.75]})


def scores(correct_clean: list[bool], correct: list[bool], ras: list[float]) -> pl.DataFrame:
    """Two items under one corruption; clean S = 0.25 and 0.5, clean C = 0.5 and 0.75."""
    return pl.DataFrame(
        {
            "id": ["a/1", "a/2"],
            "corruption": ["fog", "fog"],
            "severity": [1, 1],
            "correct": correct,
            "correct_clean": correct_clean,
            "entropy": [0.5, 0.75],
            "delta_entropy": [0.25, 0.25],
            "calibration": [0.5, 1.0],
            "delta_calibration": [0.0, 0.25],
            "ras": ras,
        }
    )


GOOD = scores([True, True], [True, False], [0.0, -0.5])
BAD = scores([True, False], [True, False], [0.0, -0.75])


def test_table1_by_hand():
    table = table1([STRONG, WEAK], [GOOD, BAD], WEIGHTS)
    assert dict(table.schema) == TABLE1
    strong, weak = table.rows(named=True)  # in the order of the targets
    assert strong == {
        "model": "strong",
        "label": "Strong",
        "year": 2025,
        "parameters_b": 8.0,
        "items": 2,
        "acc_clean": 1.0,
        "delta_acc": -0.75,
        "rank_delta_acc": 2,
        "ras": -0.375,
        "rank_ras": 1,
        "entropy_clean": 0.375,
        "entropy_clean_weighted": 0.4375,
        "delta_entropy": 0.25,
        "calibration_clean": 0.625,
        "calibration_clean_weighted": 0.6875,
        "delta_calibration": 0.1875,
    }
    assert (weak["model"], weak["year"], weak["parameters_b"]) == ("weak", None, None)
    assert (weak["acc_clean"], weak["delta_acc"], weak["ras"]) == (0.5, 0.0, -0.5625)
    assert (weak["rank_delta_acc"], weak["rank_ras"]) == (1, 2)


def test_the_best_of_each_column_follows_its_arrow():
    best = best_rows(table1([STRONG, WEAK], [GOOD, BAD], WEIGHTS))
    assert (best["acc_clean"], best["delta_acc"], best["ras"]) == ({0}, {1}, {0})
    assert best["entropy_clean"] == {0, 1}  # a tie
    rising = pl.DataFrame({name: [0.1, 0.2, 0.3] for name in HIGHER_IS_BETTER})
    assert best_rows(rising)["delta_calibration"] == {0}


def test_ties_but_for_a_rounding_share_the_lower_rank():
    assert rank(pl.Series([-0.2, -0.1, -0.1, -0.3, None])).to_list() == [3, 1, 1, 4, None]
    values = pl.Series([0.3, 0.1 + 0.2, 0.3 + 1e-8, None])
    assert rank(values).to_list() == [2, 2, 1, None]


@pytest.mark.parametrize(
    ("targets", "tables", "weights", "message"),
    [
        ([], [], WEIGHTS, "one table of scores per target"),
        ([STRONG, WEAK], [GOOD], WEIGHTS, "2 targets, 1 tables"),
        ([STRONG, STRONG], [GOOD, BAD], WEIGHTS, "a target occurs twice"),
        ([STRONG, WEAK], [GOOD, BAD.head(1)], WEIGHTS, r"weak has 1 scores.*first \('a/2', 'fog', 1\)"),
        ([STRONG], [GOOD.clear()], WEIGHTS, "strong has 0 scores"),
        ([STRONG], [GOOD], WEIGHTS.head(1), "2 items were scored, 1 are selected.*first a/2"),
    ],
)
def test_targets_that_cannot_be_compared_are_refused(targets, tables, weights, message):
    with pytest.raises(ValueError, match=message):
        table1(targets, tables, weights)
