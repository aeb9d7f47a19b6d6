"""Scores by people: as the judge, and of people who answered the items themselves."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.errors import InputError
from benchc.schemas.parquet import read_footer, read_table
from tests.benchmarks.r_bench.judging.replied import PAIRS, written
from tests.stages import call_stage

RULE = {"judge.kind": "rule"}
HEADER = "model,id,corruption,severity,kind,reference,score\n"
SCORED = HEADER + "".join(
    f"{row}\n"
    for row in (
        "m,s/b,jpeg,3,dis,0,1",
        "m,s/b,jpeg,3,com,0,1",
        "m,s/c,jpeg,2,dis,0,2",
        "m,s/c,jpeg,2,dis,0,1",
        "m,s/c,clean,0,ref,0,0",
        "m,s/c,jpeg,2,com,0,1",
        "m,s/d,jpeg,2,dis,0,2",
        "m,s/d,jpeg,2,dis,1,1",
        "m,s/d,clean,0,ref,0,0",
        "m,s/d,clean,0,ref,1,0",
        "m,s/d,jpeg,2,com,0,1",
        "other,s/a,jpeg,2,dis,0,9",
        "other,s/b,jpeg,3,dis,0,0",
    )
)


def scored(folder: Path, text: str) -> pl.DataFrame:
    (folder / "scores.csv").write_text(text)
    given = {"judge.kind": "human", "scores": folder / "scores.csv", "output": folder / "judged.parquet"}
    call_stage("r_bench.judge", **written(folder), **given)
    return read_table(folder / "judged.parquet", JUDGE_SCORES)


def test_scores_of_people_are_those_of_their_rows(tmp_path: Path) -> None:
    table = scored(tmp_path, SCORED)
    two = table.filter(id="s/c", kind="dis")
    assert two["score"].to_list() == [2, 1] and two["repeat"].to_list() == [0, 1]
    assert table.filter(id="s/d", kind="dis")["score"].to_list() == [2, 1]
    assert table.filter(judge="human").height == 11 and table.filter(judge="letter").height == 4
    call_stage("r_bench.score", judge_scores=tmp_path / "judged.parquet", output=tmp_path / "s.parquet")
    assert read_table(tmp_path / "s.parquet", SCORES)["s_dis"].to_list() == [1, 1, 0.75, 0.75]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "m,s/c,clean,0,ref,0,0\n",
            "",
            "has no score of s/c under clean at severity 0, kind ref, reference 0",
        ),
        (
            "m,s/b,jpeg,3,dis,0,1",
            "m,s/b,jpeg,3,dis,0,2",
            "the score of s/b .* is '2'; correct it to one of 0, 1",
        ),
        ("reference,score", "reference,points", "has no column 'score'"),
        ("m,s/b,jpeg,3,dis,0,1", "m,s/b,jpeg", "row 2: has fewer cells than the header; complete it"),
    ],
)
def test_scores_that_cannot_be_used_are_one_sentence(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(InputError, match=rf"^{tmp_path}/scores\.csv: {message}"):
        scored(tmp_path, SCORED.replace(old, new))


def answered(folder: Path, *answers: dict[str, str], **more: Any) -> pl.DataFrame:
    files = []
    for number, one in enumerate(answers):
        files.append(folder / f"p{number}.csv")
        files[-1].write_text("id,answer\n" + "".join(f"s/{id_},{text}\n" for id_, text in one.items()))
    arguments = written(folder, PAIRS[:3])
    del arguments["answers"], arguments["label"]
    call_stage(
        "r_bench.judge_people", **arguments, **RULE, people=files, output=folder / "people.parquet", **more
    )
    return read_table(folder / "people.parquet", SCORES)


# Scores of a, b, c: 1 1 1, 0 0 0, 1 0 .5 and 0 1 1.
BEST = {"a": "B", "b": "A", "c": "on the table"}
WORST = {"a": "A", "b": "", "c": "no"}
MIDDLE = {"a": "B", "b": "B", "c": "the table"}
OTHER = {"a": "a dog", "b": "red", "c": "on the table"}


def test_the_best_and_the_worst_person_are_left_out(tmp_path: Path) -> None:
    scores = answered(tmp_path, OTHER, WORST, BEST, MIDDLE)
    assert scores["id"].to_list() == ["s/a", "s/b", "s/c"]
    assert scores["absolute"].to_list() == [0.5, 0.5, 0.75]
    assert scores["relative"].null_count() == 3
    footer = read_footer(tmp_path / "people.parquet")
    assert footer["label"] == "people" and footer["judge"] == "rule" and footer["judgements"] == 4 * 3 - 5


def test_two_people_are_too_few(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^people: 2 given, .*; give at least 3$"):
        answered(tmp_path, BEST, WORST)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"a": "B", "b": "A"}, "has no answer to s/c; add a row"),
        ({**BEST, "z": "B"}, "row 5: 's/z' is no assigned item; remove the row"),
    ],
)
def test_ids_that_differ_are_one_sentence(tmp_path: Path, answers: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=rf"^{tmp_path}/p1\.csv: {message}"):
        answered(tmp_path, BEST, answers, WORST)
