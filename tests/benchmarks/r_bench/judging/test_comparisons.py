"""What is compared, of replies of the run and of another program's, and files that do not fit each other."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchc.benchmarks.r_bench.judging.comparisons import comparisons, read_items, replies_of_run
from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.benchmarks.r_bench.schemas.tasks import TASK_TABLE
from benchc.errors import InputError
from benchc.schemas.answers import ANSWERS
from benchc.schemas.assignment import read_assignment
from benchc.schemas.parquet import read_footer, read_table, write_table
from tests.benchmarks.r_bench.judging.replied import PAIRS, written
from tests.footers import footer_of
from tests.stages import call_stage

CAP = PAIRS[3]
CSV = "id,corruption,severity,answer\n" + "".join(
    f"s/{pair.name},clean,0,{pair.ref}\ns/{pair.name},{pair.corruption},{pair.severity},{pair.dis}\n"
    for pair in PAIRS
)


def test_each_kind_compares_its_texts(tmp_path: Path) -> None:
    # The second cell of one item: its clean reply is judged once.
    files = written(tmp_path, [CAP])
    rows = read_table(files["answers"][0], ANSWERS)
    more = rows.filter(corruption="jpeg").with_columns(
        severity=pl.lit(3, dtype=pl.Int64), reply=pl.lit("third")
    )
    write_table(pl.concat([rows, more]), files["answers"][0], ANSWERS, footer_of({"label": "m"}))
    levels = {"jpeg": {"s/d": [2, 3]}}
    items = read_items(files["pool"], files["references"], files["tasks"])
    found = [
        (each.severity, each.kind, each.reference, each.reply, each.against)
        for each in comparisons(replies_of_run(files["answers"], levels), items)
    ]
    assert found == [
        (0, "ref", 0, "a cat sleeps", "A dog runs."),
        (0, "ref", 1, "a cat sleeps", "A dog on grass."),
        (2, "dis", 0, "a dog", "A dog runs."),
        (2, "dis", 1, "a dog", "A dog on grass."),
        (2, "com", 0, "a dog", "a cat sleeps"),
        (3, "dis", 0, "third", "A dog runs."),
        (3, "dis", 1, "third", "A dog on grass."),
        (3, "com", 0, "third", "a cat sleeps"),
    ]


def judged(folder: Path, **changed: Any) -> pl.DataFrame:
    arguments = written(folder) | {"judge.kind": "rule", "output": folder / "judged.parquet"} | changed
    call_stage("r_bench.judge", **arguments)
    return read_table(folder / "judged.parquet", JUDGE_SCORES)


def test_answers_of_another_program_are_judged_as_those_of_the_run(tmp_path: Path) -> None:
    own = judged(tmp_path)
    (tmp_path / "other.csv").write_text(CSV)
    other = judged(tmp_path, answers=[], imported=tmp_path / "other.csv", label="other")
    assert other.equals(own) and read_footer(tmp_path / "judged.parquet")["label"] == "other"


def test_a_missing_answer_is_named(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text(CSV.replace("s/c,clean,0,a table on the left side of it\n", ""))
    with pytest.raises(InputError, match=r"other\.csv: 1 missing answer: \(s/c, clean, 0\); add a row"):
        judged(tmp_path, answers=[], imported=tmp_path / "other.csv")
    files = written(tmp_path)
    rows = read_table(files["answers"][0], ANSWERS).filter(
        ~((pl.col("id") == "s/b") & (pl.col("severity") > 0))
    )
    write_table(rows, files["answers"][0], ANSWERS, footer_of({"label": "m"}))
    levels = read_assignment(files["assignment"], {"jpeg": [1, 2, 3]})
    with pytest.raises(InputError, match=r"/m: 1 missing answer: \(s/b, jpeg, 3\); "):
        replies_of_run(files["answers"], levels)


def test_an_open_question_is_no_mcq(tmp_path: Path) -> None:
    files = written(tmp_path)
    tasks = read_table(files["tasks"], TASK_TABLE).with_columns(
        task=pl.lit("mcq", dtype=pl.Enum(["mcq", "vqa", "cap"]))
    )
    write_table(tasks, files["tasks"], TASK_TABLE, footer_of({}))
    with pytest.raises(InputError, match=r"tasks\.parquet: s/c is mcq, but has no options; correct `tasks`"):
        read_items(files["pool"], files["references"], files["tasks"])
    write_table(tasks[:0], files["tasks"], TASK_TABLE, footer_of({}))
    items = read_items(files["pool"], files["references"], files["tasks"])
    replies = replies_of_run(files["answers"], read_assignment(files["assignment"], {"jpeg": [1, 2, 3]}))
    with pytest.raises(InputError, match=r"^pool/tasks.parquet: item s/a is assigned, but has no task; "):
        list(comparisons(replies, items))
