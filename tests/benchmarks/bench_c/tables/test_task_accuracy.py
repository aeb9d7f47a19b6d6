"""Accuracy by task type: against plain polars, and its intervals against a bootstrap of one task alone."""

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.bench_c.tables.task_accuracy import task_accuracy
from benchc.benchmarks.bench_c.targets import Targets
from benchc.errors import InputError
from benchc.schemas.models import Model
from benchc.statistics.resampling import item_counts
from tests.benchmarks.bench_c.metrics.score_tables import scored
from tests.benchmarks.bench_c.outputs import flat
from tests.standings import standings_of

ITEMS, DRAWS, SEED = 12, 200, 3
POOL = pl.DataFrame(
    {
        "id": [f"s/{item}" for item in range(ITEMS)],
        "task": [("map", "chart", "map")[i % 3] for i in range(ITEMS)],
        "options": [["a", "b"] if i % 3 else ["a", "b", "c", "d"] for i in range(ITEMS)],
    }
)
SCORES = {name: scored(ITEMS, seed) for seed, name in enumerate(("one", "two"))}
CHANCE = standings_of(["One", "Two"], below=["Two"])
TARGETS = Targets(SCORES, {name: Model(name, name.title()) for name in SCORES})


def of_items(*numbers: int, excluded: int = 0) -> Targets:
    ids = [f"s/{number}" for number in numbers]
    some = {name: scores.filter(pl.col("id").is_in(ids)) for name, scores in SCORES.items()}
    return Targets(some, TARGETS.models, excluded=excluded)


@pytest.fixture(scope="module")
def table():
    return task_accuracy(TARGETS, POOL, CHANCE, DRAWS, SEED)


def test_means_are_those_of_the_predictions_of_a_task(table):
    for row in table.frame.rows(named=True):
        predictions = SCORES[row["model"]].join(POOL, on="id").filter(task=row["task"])
        assert row["items"] == predictions["id"].n_unique()
        assert row["acc_clean"] == pytest.approx(predictions.unique("id")["correct_clean"].mean())
        assert row["acc_corrupted"] == pytest.approx(predictions["correct"].mean())
        assert row["delta_acc"] == pytest.approx(row["acc_corrupted"] - row["acc_clean"])
    # Two items of "map" have four options, and two have two.
    assert dict(table.frame.select("task", "guessing").rows()) == {"chart": 0.5, "map": 0.375}
    text = flat(table.markdown)
    assert "| Two † |" in text and "| One |" in text and "†: Acc(o) is not above chance." in text
    order = [(model, task) for model in ("one", "two") for task in ("chart", "map")]
    assert table.frame.select("model", "task").rows() == order


def test_intervals_are_percentiles_over_resamples_of_all_items(table):
    values = SCORES["two"].group_by("id").agg(pl.col("correct").mean()).join(POOL, on="id", how="right")
    ids = sorted(POOL["id"])  # the order of items in which resamples count
    values = pl.DataFrame({"id": ids}).join(values, on="id", maintain_order="left")
    member = (values["task"] == "map").to_numpy()
    counts = item_counts(ITEMS, DRAWS, SEED)[1:]
    means = (counts @ (values["correct"].to_numpy() * member)) / (counts @ member)
    row = table.frame.row(by_predicate=(pl.col("model") == "two") & (pl.col("task") == "map"), named=True)
    ends = [row["acc_corrupted_low"], row["acc_corrupted_high"]]
    np.testing.assert_allclose(ends, np.quantile(means, [0.025, 0.975]), atol=1e-8)
    table = task_accuracy(TARGETS, POOL, CHANCE, 1, SEED).frame  # one draw: both ends are its mean
    assert table["delta_acc_low"].equals(table["delta_acc_high"].alias("delta_acc_low"))
    assert (table["delta_acc_low"] != table["delta_acc"]).any()


def test_a_task_without_drawn_items_or_of_one_item_has_no_interval():
    # One draw of four items with replacement has only one of the two tasks, for some seed.
    tables = [task_accuracy(of_items(0, 1, 2, 4), POOL, CHANCE, 1, seed) for seed in range(20)]
    lows = [table.frame["acc_clean_low"].null_count() for table in tables]
    assert set(lows) == {0, 2} and any("[–]" in table.markdown for table in tables)
    table = task_accuracy(of_items(0, 1, 2), POOL, CHANCE, 50, SEED)
    for row in table.frame.iter_rows(named=True):
        ends = [row[f"{metric}_{end}"] for metric in ("acc_clean", "delta_acc") for end in ("low", "high")]
        assert (None in ends) == (row["task"] == "chart") and (ends == [None] * 4) == (row["items"] == 1)


def test_the_caption_counts_items_and_shifts_have_signs():
    table = task_accuracy(of_items(1, excluded=2), POOL, CHANCE, 5, SEED)
    assert table.frame["task"].to_list() == ["chart"] * 2
    assert "On 1 of 3 items" in flat(table.markdown) and "One" in table.markdown
    shift = task_accuracy(TARGETS, POOL, CHANCE, 5, SEED)
    rising = shift.frame.filter(pl.col("delta_acc_high") > 0.001)["delta_acc_high"]
    assert len(rising) and all(f"+{value:.3f}]" in shift.markdown for value in rising)
    with pytest.raises(InputError, match=r"1 item with scores but no task type, first s/0"):
        task_accuracy(TARGETS, POOL[1:], CHANCE, 5, SEED)
