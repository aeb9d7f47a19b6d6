"""Scores of items from judgements, by the formulas of the paper's code."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.r_bench.metrics.item_scores import item_scores
from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.errors import InputError

FILE = Path("judge_scores/m.parquet")


def table(task: str, dis: list[int], ref: list[int], com: list[int]) -> pl.DataFrame:
    rows = []
    for kind, scores in (("dis", dis), ("ref", ref), ("com", com)):
        cell = ("clean", 0) if kind == "ref" else ("jpeg", 3)
        for number, score in enumerate(scores):
            place = (number, 0) if task == "cap" and kind != "com" else (0, number)
            rows.append(("s/1", task, *cell, kind, *place, "llm", float(score), True, None))
    return pl.DataFrame(rows, schema=dict(JUDGE_SCORES.columns), orient="row")


FIVE = st.lists(st.integers(0, 2), min_size=5, max_size=5)


@given(FIVE, FIVE, FIVE)
def test_open_answers_are_a_tenth_of_the_sum(dis: list[int], ref: list[int], com: list[int]) -> None:
    row = item_scores(table("vqa", dis, ref, com), FILE).row(0, named=True)
    assert row["absolute"] == row["s_dis"] == pytest.approx(sum(dis) / 10)
    assert row["relative"] == pytest.approx(sum(ref) / 10 * sum(com) / 10)
    assert (row["dimension"], row["severity"]) == ("jpeg", 3)


@given(st.lists(st.integers(0, 1), min_size=5, max_size=5))
def test_options_are_the_majority_of_five(found: list[int]) -> None:
    row = item_scores(table("mcq", found, [1], found), FILE).row(0, named=True)
    assert row["s_dis"] == row["relative"] == int(sum(found) / 5 + 0.5)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=6))
def test_captions_are_a_share_of_the_sum_over_references(found: list[int]) -> None:
    row = item_scores(table("cap", found, [2], [1, 2, 2, 0, 0]), FILE).row(0, named=True)
    assert row["s_dis"] == pytest.approx(sum(found) / (2 * len(found)))
    assert row["relative"] == pytest.approx(0.5)


@pytest.mark.parametrize("kind", ["dis", "ref", "com"])
def test_an_item_without_a_kind_is_named(kind: str) -> None:
    rows = table("vqa", [1], [1], [1]).filter(pl.col("kind") != kind)
    with pytest.raises(InputError, match=f"has no judgement {kind} of item s/1 under jpeg at severity 3"):
        item_scores(rows, FILE)
