from collections import Counter

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.vqa_robustness.metrics.mispredictions import KINDS, kind_of
from benchc.benchmarks.vqa_robustness.tables.mispredictions import mispredictions
from benchc.benchmarks.vqa_robustness.tables.table_a3 import table_a3
from benchc.errors import InputError
from benchc.randomness import generator_of, seed_of
from tests.benchmarks.printed import cells, text_of
from tests.benchmarks.vqa_robustness.answered import (
    CORRUPTIONS,
    LABELS,
    QUESTIONS,
    grades_of,
    pool,
    references,
)
from tests.rendering.latex import check_latex

POOL, REFERENCES = pool(QUESTIONS), references(QUESTIONS)
SETTINGS = {"labels": LABELS, "corruptions": CORRUPTIONS, "grade": "normalised", "draws": 50, "seed": 3}


@pytest.fixture(scope="module")
def graded() -> dict[str, pl.DataFrame]:
    return grades_of(QUESTIONS, 2)


@pytest.fixture(scope="module")
def wrong(graded) -> list[dict]:
    """The mispredictions, one dict each, found row by row."""
    found = []
    for model, table in graded.items():
        rows = table.rows(named=True)
        clean = {row["id"] for row in rows if row["corruption"] == "clean" and row["normalised"]}
        for row in rows:
            if row["corruption"] in CORRUPTIONS and row["id"] in clean and not row["normalised"]:
                question, truth, _ = QUESTIONS[int(row["id"][2:])]
                kind = kind_of(question, truth, row["reply"])
                found.append(row | {"model": model, "question": question, "truth": truth, "kind": kind})
    assert len(found) > 50 and {row["kind"] for row in found} == set(KINDS)
    return found


def interval(wrong: list[dict], kind: str) -> tuple[float | None, float | None]:
    """Return the 2.5 % and 97.5 % points of the share in 50 resamples of the four images."""
    shares = []
    for draw in range(1, 51):
        times = Counter(generator_of(3, "bootstrap", draw).integers(4, size=4).tolist())
        weights = [(times[int(row["id"][2:]) % 4], row["kind"]) for row in wrong]
        if whole := sum(weight for weight, _ in weights):
            shares.append(sum(weight for weight, name in weights if name == kind) / whole)
    low, high = np.quantile(shares, [0.025, 0.975]).tolist()
    return (low, high) if low < high else (None, None)


def test_the_shares_of_each_model(graded, wrong):
    table = mispredictions(graded, POOL, REFERENCES, **SETTINGS)
    assert table.frame.height == len(LABELS) * len(KINDS)
    for row in table.frame.iter_rows(named=True):
        (model,) = (id_ for id_, label in LABELS.items() if label == row["model"])
        own = [each for each in wrong if each["model"] == model]
        assert row["mispredictions"] == len(own)
        assert row["n"] == sum(each["kind"] == row["kind"] for each in own)
        assert row["share"] == pytest.approx(row["n"] / len(own))
        assert (row["share_low"], row["share_high"]) == pytest.approx(interval(own, row["kind"]))
    header, *lines = cells(table.markdown)
    totals = [sum(each["model"] == model for each in wrong) for model in LABELS]
    assert header == ["Kind", f"Model M (n = {totals[0]})", f"N, the other (n = {totals[1]})"]
    assert [line[0] for line in lines] == [kind.capitalize() for kind in KINDS]
    first = table.frame.drop_nulls().row(0, named=True)
    numbers = f"{first['share']:.2f} [{first['share_low']:.2f}, {first['share_high']:.2f}]"
    assert lines[KINDS.index(first["kind"])][1 + [*LABELS.values()].index(first["model"])] == numbers
    assert check_latex(table.latex) == ([], {"booktabs"})


def test_examples_are_mispredictions_of_their_kind_in_the_order_of_a_hash(graded, wrong):
    table = table_a3(graded, POOL, REFERENCES, **SETTINGS, examples=2)
    for kind in KINDS:
        rows = table.frame.filter(kind=kind).rows(named=True)
        own = [each for each in wrong if each["kind"] == kind]
        ids = sorted({each["id"] for each in own}, key=lambda id_: seed_of("table_a3", id_))[:2]
        assert [row["id"] for row in rows] == ids
        for row in rows:
            assert row["n"] == len(own) and row["share"] == pytest.approx(len(own) / len(wrong))
            keys = ("id", "question", "truth", "reply", "corruption")
            shown = [*(row[key] for key in keys), row["model"], row["level"]]
            places = ([*(each[key] for key in keys), LABELS[each["model"]], each["severity"]] for each in own)
            assert shown in places
    # A model or a grade more or less moves no other example than its own.
    again = table_a3(dict(reversed(graded.items())), POOL, REFERENCES, **SETTINGS, examples=2)
    assert again.frame.equals(table.frame)
    header, *lines = cells(table.markdown)
    assert header[:3] == ["Kind", "Share", "Question"]
    assert sum(line[0] != "" for line in lines) == sum(line[1] != "" for line in lines) == len(KINDS)
    assert f"{len(wrong)} such answers of 2 models" in text_of(table)
    assert check_latex(table.latex) == ([], {"booktabs"})


def test_a_question_that_two_items_ask_is_one_example_and_a_missing_reference_an_error(graded):
    questions = [QUESTIONS[0]] * 6
    table = table_a3(grades_of(questions, 2), pool(questions), references(questions), **SETTINGS)
    assert table.frame.filter(kind="miscolor").height == 1
    with pytest.raises(InputError, match=r"^the references have none of item s/10"):
        table_a3(graded, POOL, REFERENCES.head(10), **SETTINGS)


def test_no_misprediction_at_all():
    graded = grades_of(QUESTIONS, 1, always=0)
    table = table_a3(graded, POOL, REFERENCES, **SETTINGS)
    assert table.frame.height == len(KINDS) and table.frame["n"].sum() == 0
    assert all(cell == "–" for line in cells(table.markdown)[1:] for cell in line[2:])
    assert "0 such answers of 2 models" in text_of(table)
    shares = mispredictions(graded, POOL, REFERENCES, **SETTINGS)
    assert shares.frame["share"].null_count() == shares.frame.height
    assert cells(shares.markdown)[1] == ["Miscolor", "–", "–"]


def test_a_soft_grade_counts_by_the_rules_of_the_evaluator(graded):
    def found(tables: dict[str, pl.DataFrame], grade: str) -> pl.DataFrame:
        return table_a3(tables, POOL, REFERENCES, **SETTINGS | {"grade": grade}).frame

    expected = found(graded, "normalised")
    assert found({id_: each.with_columns(soft=0.3) for id_, each in graded.items()}, "soft").equals(expected)
    assert not found(graded, "exact").equals(expected)
