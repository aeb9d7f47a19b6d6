from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.r_bench.metrics import item_scores as scoring
from benchc.benchmarks.r_bench.metrics.judges import agreements, readings, repeated, with_letters
from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.errors import InputError
from tests.benchmarks.made import frame_of
from tests.benchmarks.r_bench.scored import judgements, rows_of


def judged(*rows: tuple[str, str, str, int, int, str, float]) -> pl.DataFrame:
    """Return JUDGE_SCORES of rows (id, task, kind, reference, repeat, judge, score) under jpeg, 2."""
    found = [
        (id_, task, *(("clean", 0) if kind == "ref" else ("jpeg", 2)), kind, *rest, True, None)
        for id_, task, kind, *rest in rows
    ]
    return frame_of(JUDGE_SCORES, found)


def item_scores(table: pl.DataFrame) -> pl.DataFrame:
    return scoring.item_scores(table, Path("m")).sort("id", "task", "dimension", "severity")


def repeats(id_: str, task: str, kind: str, *scores: float, judge: str = "llm"):
    return [(id_, task, kind, 0, number, judge, float(score)) for number, score in enumerate(scores)]


@pytest.mark.parametrize("total", range(6))
def test_multiple_choice_is_the_majority_of_five(total):
    votes = [1] * total + [0] * (5 - total)
    (row,) = item_scores(
        judged(*(r for kind in ("dis", "ref", "com") for r in repeats("a", "mcq", kind, *votes)))
    ).rows(named=True)
    expected = int(total / 5 + 0.5)
    assert (row["s_dis"], row["s_ref"], row["s_com"]) == (expected,) * 3
    # Half of the votes are a majority.
    rows = (r for kind in ("dis", "ref", "com") for r in repeats("a", "mcq", kind, 1, 0))
    assert item_scores(judged(*rows))["s_dis"].to_list() == [1.0]


def test_open_answers_and_captions():
    rows = [
        *repeats("v", "vqa", "dis", 2, 1, 0, 0, 0),
        *repeats("v", "vqa", "ref", 2, 2, 2, 2, 1),
        *repeats("v", "vqa", "com", 1, 1, 1, 1, 1),
        *(("c", "cap", "dis", n, 0, "llm", score) for n, score in enumerate((2.0, 1.0, 0.0, 0.0))),
        *(("c", "cap", "ref", n, 0, "llm", score) for n, score in enumerate((2.0, 2.0, 1.0, 2.0))),
        *repeats("c", "cap", "com", 2, 2, 2, 0, 1),
    ]
    cap, vqa = item_scores(judged(*rows)).rows(named=True)
    assert [vqa[f"s_{kind}"] for kind in ("dis", "ref", "com")] == pytest.approx([3 / 10, 9 / 10, 5 / 10])
    assert [cap[f"s_{kind}"] for kind in ("dis", "ref", "com")] == pytest.approx([3 / 8, 7 / 8, 7 / 10])
    assert (vqa["absolute"], vqa["relative"]) == pytest.approx((0.3, 0.45))
    assert (cap["dimension"], cap["severity"]) == ("jpeg", 2)


def test_scores_are_in_the_order_of_the_judgements():
    ids = [str(number * 7 % 30) for number in range(30)]
    rows = (row for id_ in ids for kind in ("dis", "ref", "com") for row in repeats(id_, "vqa", kind, 1))
    assert scoring.item_scores(judged(*rows), Path("m"))["id"].to_list() == ids


def test_a_letter_counts_where_no_judge_has_read_the_reply():
    letter = [("a", "mcq", kind, 0, 0, "letter", 1.0) for kind in ("dis", "ref", "com")]
    assert item_scores(judged(*letter))["s_dis"].item() == 1
    assert item_scores(judged(*letter, *repeats("a", "mcq", "dis", 0)))["s_dis"].item() == 0


@pytest.mark.parametrize("kind", ["dis", "ref", "com"])
def test_an_item_without_judgements_of_a_kind_is_an_error(kind):
    rows = [r for each in ("dis", "ref", "com") if each != kind for r in repeats("a", "vqa", each, 1)]
    # Of two items, the first one, and what it lacks, are named.
    rows += [r for each in ("ref", "com") for r in repeats("c", "vqa", each, 1)]
    with pytest.raises(InputError, match=rf"m: has no judgement {kind} of item a under jpeg at severity 2"):
        item_scores(judged(*rows, *(r for k in ("dis", "ref", "com") for r in repeats("b", "vqa", k, 1))))


def test_agreement_of_repeats_by_hand():
    table = judged(
        *repeats("a", "vqa", "dis", 2, 2, 2),
        *repeats("b", "vqa", "dis", 2, 1, 2),
        *repeats("c", "vqa", "dis", 0, 0, 0),
        *repeats("d", "vqa", "dis", 0, 0),  # fewer repeats: no part of it
        *repeats("e", "vqa", "dis", 0),
    )
    wide = repeated(table)
    assert wide["id"].to_list() == ["a", "b", "c"]
    share, kappa = agreements(wide, ["0", "1", "2"], 0, 0)[0]
    assert share == pytest.approx(2 / 3)
    # Fleiss 1971: of three rows, pairs agree in 1, 1/3 and 1; shares of 0, 1, 2 are 3/9, 1/9, 5/9.
    observed, expected = (1 + 1 / 3 + 1) / 3, (9 + 1 + 25) / 81
    assert kappa == pytest.approx((observed - expected) / (1 - expected))
    none = agreements(wide.clear(), ["0", "1"], 3, 0)
    assert none.shape == (4, 2) and np.isnan(none).all()
    # Resamples are of the items that there are: one item is in all of them.
    assert agreements(wide[:1], ["0", "1"], 20, 0)[:, 0].tolist() == [1] * 21
    shares = agreements(wide[:2], ["0", "1", "2"], 20, 0)[:, 0]
    assert shares[0] == 0.5 and {*shares} == {0, 0.5, 1}
    # Single judgements are no repeats.
    captions = [("c", "cap", "dis", n, 0, "llm", 1.0) for n in range(3)]
    assert repeated(judged(*captions)).is_empty()
    # Each reference caption is a judgement of its own.
    captions = [("c", "cap", "dis", n, who, "human", float(n == who)) for n in range(3) for who in range(2)]
    wide = repeated(judged(*captions))
    assert wide.select("reference", "0", "1").rows() == [(0, 1, 0), (1, 0, 1), (2, 0, 0)]
    # Letters are beside the majority of the judge.
    table = judged(
        ("a", "mcq", "dis", 0, 0, "letter", 1.0),
        *repeats("a", "mcq", "dis", 1, 0, 0),
        ("b", "mcq", "dis", 0, 0, "letter", 0.0),
        *repeats("c", "mcq", "dis", 1, 1, 1),
        ("d", "mcq", "dis", 0, 0, "letter", 0.0),
        *repeats("d", "mcq", "dis", 1, 0),  # an even split is 1, as in scores
    )
    assert with_letters(table).select("id", "letter", "judge").rows() == [("a", 1.0, 0.0), ("d", 0.0, 1.0)]


def test_readings_of_the_same_judgements():
    rows = rows_of(["jpeg", "lens_blur"], repeats=2)
    table = judgements(rows, seed=3, agreement=0.5, letters=0.5)
    found = {name: tables["m"].sort("id") for name, tables in readings({"m": table})}
    numbered = [f"judgement {number}" for number in range(1, 6)]
    assert [*found] == ["as configured", *numbered, "letter first", "letters alone"]
    assert found["as configured"].equals(item_scores(table))
    second = found["judgement 2"].filter(task="vqa")
    alone = table.filter(pl.col("repeat") == 1, task="vqa", kind="dis").sort("id", "corruption", "severity")
    assert second["s_dis"].to_list() == (alone["score"] / 2).to_list()
    captions = [found[name].filter(task="cap")["s_dis"].to_list() for name in found]
    assert all(values == captions[0] for values in captions)
    letters = table.filter(judge="letter", kind="dis")
    right = dict(letters.select("id", "score").rows())
    alone = found["letters alone"].filter(task="mcq")
    assert alone["s_dis"].to_list() == [right.get(id_, 0.0) for id_ in alone["id"]]
    first = found["letter first"].filter(task="mcq")
    majority = dict(found["as configured"].filter(task="mcq").select("id", "s_dis").rows())
    assert first["s_dis"].to_list() == [right.get(id_, majority[id_]) for id_ in first["id"]]
    # Single judgements have one reading.
    rows = [r for kind in ("dis", "ref", "com") for r in repeats("a", "vqa", kind, 1, judge="rule")]
    assert [name for name, _ in readings({"m": judged(*rows)})] == ["as configured"]
    several = [r for kind in ("dis", "ref", "com") for r in repeats("a", "vqa", kind, 1, 2)]
    both = {"m": judged(*rows), "n": judged(*several)}
    assert [name for name, _ in readings(both)] == ["as configured"]
    none = {"n": judged(*several), "o": judged().clear()}
    assert [name for name, _ in readings(none)] == ["as configured"]
    names = [name for name, _ in readings({"n": judged(*several)})]
    assert names == ["as configured", "judgement 1", "judgement 2"]
    # No reply has both a letter and a judge's score.
    apart = [
        (id_, "mcq", kind, 0, 0, judge, 1.0)
        for kind in ("dis", "ref", "com")
        for id_, judge in (("a", "letter"), ("b", "llm"))
    ]
    assert [name for name, _ in readings({"m": judged(*apart)})] == ["as configured", "letters alone"]
