import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.table1 import HIGHER_IS_BETTER, TABLE1, best_rows, rank, table1
from benchc.errors import InputError
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
    # The arrows of the paper's Table 1: accuracies and RAS point up, uncertainty and calibration error down.
    rising = pl.DataFrame({name: [0.1, 0.2, 0.3] for name in HIGHER_IS_BETTER})
    up = {"acc_clean", "delta_acc", "ras"}
    assert best_rows(rising) == {name: {2 if name in up else 0} for name in HIGHER_IS_BETTER}
    near = [0.4916015625, 0.49160156250000003, 0.4916015625]
    assert best_rows(pl.DataFrame(dict.fromkeys(HIGHER_IS_BETTER, near)))["ras"] == {0, 1, 2}
    # Among the ranked ones alone, without those that have no value.
    labels = rising.with_columns(label=pl.Series(["A", "B", "C"]), ras=pl.Series([0.1, None, 0.3]))
    best = best_rows(labels, {"A", "B"})
    assert (best["acc_clean"], best["entropy_clean"], best["ras"]) == ({1}, {0}, {0})


def test_a_target_without_a_rank_takes_none_from_others():
    table = table1([STRONG, WEAK], [GOOD, BAD], WEIGHTS, ranked={"Strong"})
    assert table["rank_delta_acc"].to_list() == table["rank_ras"].to_list() == [1, None]
    assert table["ras"].to_list() == [-0.375, -0.5625]


def test_items_without_scores_are_counted_and_rows_may_have_any_order():
    more = pl.concat([WEIGHTS, pl.DataFrame({"id": ["a/3"], "kappa": [0.5]})])
    given = table1([STRONG, WEAK], [GOOD, BAD.reverse()], more, excluded=1)
    assert given.equals(table1([STRONG, WEAK], [GOOD, BAD], WEIGHTS))
    for weights, excluded, what in (
        (more, 2, "1 of them differ, first a/3: scores and selection are from different runs"),
        (more, 0, "1 of them differ, first a/3: "),
        (WEIGHTS, 1, "2 are selected, and 0 of them differ where 1 should have no scores: "),
    ):
        with pytest.raises(InputError, match=what):
            table1([STRONG], [GOOD], weights, excluded=excluded)
    # As many as are excluded, but one that was scored is not selected.
    with pytest.raises(
        ValueError, match="2 items were scored, 2 are selected, and 2 of them differ, first a/2"
    ):
        table1([STRONG], [GOOD], more[[0, 2]], excluded=1)


def test_ties_but_for_a_rounding_share_the_lower_rank():
    assert rank(pl.Series([-0.2, -0.1, -0.1, -0.3, None])).to_list() == [3, 1, 1, 4, None]
    values = pl.Series([0.3, 0.1 + 0.2, 0.3 + 1e-8, None])
    assert rank(values).to_list() == [2, 2, 1, None]


@pytest.mark.parametrize(
    ("targets", "tables", "weights", "message"),
    [
        ([], [], WEIGHTS, "one table of scores per target"),
        ([STRONG, WEAK], [GOOD], WEIGHTS, "2 targets, 1 tables"),
        ([STRONG], [GOOD, BAD], WEIGHTS, "1 targets, 2 tables"),
        ([STRONG, STRONG], [GOOD, BAD], WEIGHTS, "a target occurs twice"),
        ([STRONG, WEAK], [GOOD, BAD.head(1)], WEIGHTS, r"weak has 1 scores.*first \('a/2', 'fog', 1\)"),
        (
            [STRONG, WEAK],
            [GOOD, BAD.with_columns(corruption=pl.Series(["fog", "snow"]))],
            WEIGHTS,
            r"weak has 2 scores, strong has 2, and 2 of them differ, first \('a/2', 'fog', 1\)",
        ),
        ([STRONG], [GOOD.clear()], WEIGHTS, "strong has 0 scores"),
        ([STRONG], [GOOD], WEIGHTS.head(1), "2 items were scored, 1 are selected.*first a/2"),
    ],
)
def test_targets_that_cannot_be_compared_are_refused(targets, tables, weights, message):
    with pytest.raises(ValueError, match=message):
        table1(targets, tables, weights)
