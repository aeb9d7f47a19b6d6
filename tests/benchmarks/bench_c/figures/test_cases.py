import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.benchmarks.bench_c.figures.cases import (
    case_of_each_regime,
    cases_of_item,
    item_of_most_regimes,
    named_cases,
    with_probabilities,
)
from benchc.benchmarks.bench_c.metrics.scoring import score as scored
from benchc.benchmarks.bench_c.schemas.scores import REGIMES
from tests.benchmarks.bench_c.figures.figure_tables import drawn_scores, score, scores

ROWS = [
    score("s/1", 0.9, 0.1, -0.1, "RW", corruption="fog"),
    score("s/1", 0.3, 0.2, -0.2, "RW", corruption="snow", severity=2),  # degraded: 0.2 beats 0.1
    score("s/1", -0.4, 0.5, -0.7, "RW", corruption="snow", severity=3),
    score("s/0", 0.2, 0.2, -0.2, "RW", corruption="snow", severity=4),  # as pronounced, by a lower id
    score("s/0", -0.1, -0.6, 0.6, "WR", corruption="fog", severity=1),
]


def keys(table: pl.DataFrame) -> list[tuple[str, str, int]]:
    return table.select("id", "corruption", "severity").rows()


def test_the_most_pronounced_prediction_of_each_regime_by_hand():
    cases = case_of_each_regime(scores(ROWS))
    assert cases["regime"].to_list() == ["degraded", "overconfident", "stable"]
    assert keys(cases) == [("s/0", "snow", 4), ("s/1", "snow", 3), ("s/0", "fog", 1)]
    assert cases.schema == scores(ROWS).schema
    assert case_of_each_regime(scores([])).is_empty()


@settings(max_examples=30)
@given(seed=st.integers(0, 1000))
def test_choices_against_plain_python_in_any_order_of_rows(seed: int):
    table = drawn_scores(6, ["fog", "snow", "frost"], seed)
    rows = table.rows(named=True)

    def rank(row: dict[str, object]) -> tuple[object, ...]:
        shifts = abs(row["delta_entropy"]), abs(row["delta_calibration"])
        return -min(shifts), row["id"], row["corruption"], row["severity"]

    shuffled = table.sample(fraction=1, shuffle=True, seed=seed)
    for row in case_of_each_regime(shuffled).rows(named=True):
        assert row == min((other for other in rows if other["regime"] == row["regime"]), key=rank)
    strengths: dict[str, dict[str, float]] = {item: {} for item in sorted({row["id"] for row in rows})}
    for row in sorted(rows, key=rank, reverse=True):
        strengths[row["id"]][row["regime"]] = -rank(row)[0]
    best = max(strengths, key=lambda item: (len(strengths[item]), min(strengths[item].values())))
    item = item_of_most_regimes(shuffled)
    assert item == best
    cases = cases_of_item(shuffled, item)
    assert set(cases["id"]) == {item} and len(set(keys(cases))) == cases.height
    assert cases["regime"].to_list() == [name for name in REGIMES if name in strengths[item]]


def test_predictions_of_an_item_are_of_different_corruptions_where_they_can_be():
    rows = [
        score("s/0", 0.5, 0.5, -0.5, "RW", corruption="fog", severity=1),
        score("s/0", -0.5, 0.5, -0.7, "RW", corruption="fog", severity=2),
        score("s/0", -0.1, 0.1, -0.1, "RW", corruption="snow", severity=2),
        score("s/0", -0.1, -0.1, 0.1, "RR", corruption="fog", severity=3),
    ]
    # The milder snow replaces fog, which is shown already; only fog is stable, so it is shown again.
    shown = [("s/0", "fog", 1), ("s/0", "snow", 2), ("s/0", "fog", 3)]
    assert keys(cases_of_item(scores(rows), "s/0")) == shown


def test_named_predictions_come_in_their_order_and_unknown_ones_are_refused():
    table = scores(ROWS)
    named = [("snow", 3), ("fog", 5)]
    assert keys(named_cases(table, "s/1", named)) == [("s/1", *cell) for cell in named]
    with pytest.raises(ValueError, match="'s/0' has no scores for frost at severity 5"):
        named_cases(table, "s/0", [("frost", 5)])
    with pytest.raises(ValueError, match="'s/9' has no scores"):
        cases_of_item(table, "s/9")
    with pytest.raises(ValueError, match="no scores, so there is no item to show"):
        item_of_most_regimes(scores([]))


LOGITS = {("s/0", "clean", 0): [2.0, 0.0, -np.inf], ("s/0", "fog", 1): [0.0, 1.0, 0.5]}
PREDICTIONS = pl.DataFrame(
    [{"id": i, "corruption": c, "severity": s, "logits": logits} for (i, c, s), logits in LOGITS.items()],
    schema_overrides={"logits": pl.List(pl.Float32)},
)
ITEMS = pl.DataFrame({"id": ["s/0"], "answer": [1], "options": [["a", "b", "c"]]})


def test_probabilities_are_the_softmax_of_the_predictions_behind_the_scores():
    table = scored(PREDICTIONS, ITEMS.with_columns(pl.col("options").list.len().cast(pl.Int64)))
    (case,) = with_probabilities(table, PREDICTIONS, ITEMS).rows(named=True)
    assert case["probabilities_clean"] == pytest.approx([1 / (1 + np.exp(-2)), 1 / (1 + np.exp(2)), 0])
    weights = np.exp([0, 1, 0.5])
    assert case["probabilities"] == pytest.approx(list(weights / weights.sum()))
    assert max(case["probabilities"]) == pytest.approx(case["max_prob"])
    assert (case["answer"], case["options"]) == (1, ["a", "b", "c"])
    for predictions, items, message in (
        (PREDICTIONS.filter(severity=0), ITEMS, "fog, 1.: predictions and scores are from different runs"),
        (PREDICTIONS.with_columns(logits=pl.lit([5.0, 0, 0])), ITEMS, "from different runs"),
        (PREDICTIONS, ITEMS.with_columns(options=pl.lit(["a", "b"])), "no such item with so many options"),
        (PREDICTIONS, ITEMS.clear(), "no such item"),
    ):
        with pytest.raises(ValueError, match=message):
            with_probabilities(table, predictions, items)
