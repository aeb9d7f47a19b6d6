from pathlib import Path

import polars as pl
import pytest

from benchc.errors import InputError
from benchc.judges.reference_grades import Reference, answers_of_one_model, graded, read_references
from benchc.schemas.answers import ANSWERS
from benchc.schemas.grades import GRADES
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.references import REFERENCES
from tests.footers import footer_of

ANNOTATORS = ["two", "2", "2", "2", "3", "3", "two dogs", "2", "none", "4"]


def answers(*rows: tuple[str, str, int, str, str | None]) -> pl.DataFrame:
    names = ["id", "corruption", "severity", "reply", "finish"]
    return pl.DataFrame(rows, schema={name: ANSWERS.columns[name] for name in names}, orient="row")


def test_each_grade_of_each_answer():
    references = {"a": Reference("2", ANNOTATORS), "b": Reference("red", ["red"])}
    references |= {"c": Reference(" in the sun\n", []), "d": Reference(" ", [])}
    rows = [("a", "clean", 0, "2", "stop"), ("a", "snow", 1, "Two.", "length"), ("a", "snow", 2, "3", None)]
    rows += [("b", "clean", 0, "Red", "stop"), ("b", "snow", 1, "", "stop"), ("b", "snow", 2, "2", "stop")]
    rows += [("c", "clean", 0, "in the sun", "stop"), ("d", "clean", 0, "", "stop")]
    table = graded(answers(*rows), references)
    assert table.schema == pl.Schema(GRADES.columns)
    assert table["exact"].to_list() == [True, False, False, False, False, False, True, False]
    assert table["normalised"].to_list() == [True, True, False, True, False, False, True, False]
    # Of ten annotators, 4 or more others of each say 2; 1 other of each of the two that say 3 does so.
    assert table["soft"].to_list() == pytest.approx([1, 1, (2 * 1 / 3 + 8 * 2 / 3) / 10, *[None] * 5])
    assert table["empty"].to_list() == [False, False, False, False, True, False, False, True]
    assert table["finish"].to_list() == ["stop", "length", None, *["stop"] * 5]
    assert table.select("id", "corruption", "severity", "reply").rows()[1] == ("a", "snow", 1, "Two.")


def test_an_empty_answer_is_wrong_even_where_the_truth_is_only_an_article():
    # By the rules, "the" is nothing, as the empty answer is.
    table = graded(answers(("a", "clean", 0, "", "stop")), {"a": Reference("the", ["the", "the"])})
    assert table.select("exact", "normalised", "soft", "empty").rows() == [(False, False, 0.0, True)]


def test_references_of_another_pool_are_refused(tmp_path):
    def pool(question: str):
        path = tmp_path / f"{question}.parquet"
        row = {"id": "a", "source": "a", "task": "t", "question": question, "hint": None, "options": []}
        row |= {"answer": None, "category": "t", "l2_category": None, "images": [], "image_keys": []}
        write_table(pl.DataFrame([row], schema=pl.Schema(POOL.columns)), path, POOL, footer_of({}))
        return path

    first, second = pool("What?"), pool("Who?")
    path = tmp_path / "references.parquet"
    rows = pl.DataFrame([("a", "cat", ["cat"])], schema=pl.Schema(REFERENCES.columns), orient="row")
    write_table(rows, path, REFERENCES, footer_of({"pool": pool_digest(first, QUESTION_COLUMNS)}))
    assert read_references(path, first) == {"a": Reference("cat", ["cat"])}
    with pytest.raises(InputError, match=r"references\.parquet: is not of the items of .*Who"):
        read_references(path, second)
    write_table(rows, path, REFERENCES, footer_of({"pool": pool_digest(second, QUESTION_COLUMNS)}))
    with pytest.raises(InputError, match=r"references\.parquet: is not of the items of .*What"):
        read_references(path, first)


def answer_file(folder: Path, label: str, *rows: tuple[str, str, int]) -> Path:
    frame = pl.DataFrame(
        [{"id": id_, "corruption": name, "severity": level, "reply": "2"} for id_, name, level in rows],
        schema=ANSWERS.columns,
    )
    path = folder / label / f"{len(rows)}.parquet"
    write_table(frame, path, ANSWERS, footer_of({"label": label}))
    return path


def test_answers_are_of_one_model_and_one_to_each_question(tmp_path):
    rows = ("a", "clean", 0), ("a", "snow", 1)
    whole = answer_file(tmp_path, "m", *rows)
    assert answers_of_one_model([whole]).select("id", "corruption", "severity").rows() == [*rows]
    other = answer_file(tmp_path, "n", ("a", "snow", 2))
    again = answer_file(tmp_path, "m", rows[1], rows[0], ("b", "snow", 1))
    with pytest.raises(InputError, match="files of m and n; give those of one model"):
        answers_of_one_model([whole, other])
    with pytest.raises(InputError, match="two answers to a under snow at severity 1; give one"):
        answers_of_one_model([whole, again])


def test_answers_of_two_revisions_are_refused(tmp_path):
    paths = [answer_file(tmp_path, "m", *[("a", "snow", level)] * level) for level in (1, 2)]
    for revision, path in enumerate(paths):
        write_table(read_table(path, ANSWERS), path, ANSWERS, footer_of({"label": "m", "revision": revision}))
    with pytest.raises(InputError, match=r"2\.parquet: its revision is 1, that of .*1\.parquet is 0; delete"):
        answers_of_one_model(paths)
