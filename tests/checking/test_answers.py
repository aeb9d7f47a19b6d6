from dataclasses import replace

import polars as pl
import pytest

from benchc.checking.answers import check_answers
from benchc.checking.pool import generated_sample
from benchc.planning.amounts import Amount
from benchc.planning.size import RunSize

WHOLE = [("s/1", "clean", 0), ("s/1", "fog", 1), ("s/1", "fog", 3)]


@pytest.fixture
def pool():
    texts = pl.DataFrame({"id": ["s/1"], "options": [["A", "B"]]})
    images = pl.DataFrame({"id": ["s/1"], "image_key": ["1"], "pixels": [100]})
    return replace(generated_sample(), texts=texts, size=RunSize(Amount(1), {"s/1": 2}, images))


@pytest.fixture
def found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def found(rows, pool, *, header="id,corruption,severity,answer", whole=True, answer="red"):
        lines = [header, *(f"{id_},{corruption},{severity},{answer}" for id_, corruption, severity in rows)]
        (tmp_path / "own.csv").write_text("\n".join(lines))
        finding = check_answers("own", "own.csv", ["fog"], [1, 3], pool, whole=whole)
        assert (finding.stage, finding.subject) == ("answers", "own")
        return finding.level, finding.text

    return found


def test_a_file_that_the_run_would_accept(found, pool):
    assert found(WHOLE, pool) == ("ok", "3 answers in own.csv")


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([*WHOLE, WHOLE[1]], "row 5: item 's/1' has a second answer"),
        ([*WHOLE[:2], ("s/1", "snow", 3)], "row 4: item 's/1' is under 'snow', which is none of clean, fog"),
        ([*WHOLE[:2], ("s/1", "fog", 2)], "row 4: item 's/1' has the severity '2'"),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_what_is_wrong_is_found_with_and_without_a_pool(found, pool, rows, text, known):
    level, message = found(rows, pool if known else replace(pool, size=None))
    assert level == "error" and text in message


@pytest.mark.parametrize("whole", [True, False])
def test_an_answer_that_is_a_missing_value_is_a_warning(found, pool, whole):
    level, text = found([*WHOLE[:2], ("s/1", "fog", 3)], pool, whole=whole, answer="NaN")
    assert level == "warning"
    assert text.startswith("own.csv: 'NaN', as programs write a missing value, is graded as an answer in 3")


def test_items_are_compared_with_those_of_the_pool_where_they_are_known(found, pool):
    other = [("1", name, severity) for _, name, severity in WHOLE]
    assert found(other, pool)[0] == "error"
    assert "item '1' is no item of the run, such as 's/1'" in found(other, pool, whole=False)[1]
    for unknown in (None, replace(pool, size=None)):
        assert found(other, unknown) == ("ok", "3 answers in own.csv")


def test_all_answers_are_needed_only_of_a_whole_file(found, pool):
    level, text = found(WHOLE[:2], pool)
    assert level == "error" and "add a row with an empty answer where the model gave none" in text
    assert found(WHOLE[:2], pool, whole=False) == ("ok", "2 answers in own.csv")


def test_a_file_without_a_column(found, pool):
    level, text = found([], pool, header="id,corruption,severity,reply")
    assert level == "error" and "has no column 'answer'" in text
