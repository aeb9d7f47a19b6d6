from dataclasses import replace

import polars as pl
import pytest

from benchc.checking.answers import check_answers
from benchc.checking.pool import generated_sample
from benchc.planning.amounts import Amount
from benchc.planning.size import RunSize

WHOLE = [("s/1", "clean", 0), ("s/1", "fog", 1), ("s/1", "fog", 3)]
LATER = "; its job checks whether they are those that the run asks for"


@pytest.fixture
def found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def found(rows, ids, *, header="id,corruption,severity,answer", assigned=False, answer="red"):
        lines = [header, *(f"{id_},{corruption},{severity},{answer}" for id_, corruption, severity in rows)]
        (tmp_path / "own.csv").write_text("\n".join(lines))
        finding = check_answers("own", "own.csv", ["fog"], [1, 3], ids, assigned=assigned)
        assert (finding.stage, finding.subject) == ("answers", "own")
        return finding.level, finding.text

    return found


def test_the_ids_of_a_run_are_known_where_its_sources_are():
    texts = pl.DataFrame({"id": ["s/1"], "options": [["A", "B"]]})
    images = pl.DataFrame({"id": ["s/1"], "image_key": ["1"], "pixels": [100]})
    pool = replace(generated_sample(), texts=texts)
    assert pool.all_ids is None
    assert replace(pool, size=RunSize(Amount(1), {"s/1": 2}, images)).all_ids == ["s/1"]


def test_a_file_that_the_run_would_accept(found):
    assert found(WHOLE, ["s/1"]) == ("ok", "3 answers in own.csv")


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([*WHOLE, WHOLE[1]], "row 5: item 's/1' has a second answer"),
        ([*WHOLE[:2], ("s/1", "snow", 3)], "row 4: item 's/1' is under 'snow', which is none of clean, fog"),
        ([*WHOLE[:2], ("s/1", "fog", 2)], "row 4: item 's/1' has the severity '2'"),
        ([], "own.csv has no answers; add them, or remove the entry"),
    ],
)
@pytest.mark.parametrize(("ids", "assigned"), [(["s/1"], True), (None, True), (None, False)])
def test_what_is_wrong_is_found_whether_or_not_all_is_known(found, rows, ids, assigned, text):
    level, message = found(rows, ids, assigned=assigned)
    assert level == "error" and text in message
    assert found(rows, ["s/1"])[0] == "error"


@pytest.mark.parametrize("assigned", [True, False])
def test_an_answer_that_is_a_missing_value_is_a_warning(found, assigned):
    level, text = found(WHOLE, ["s/1"], assigned=assigned, answer="NaN")
    assert level == "warning"
    assert text.startswith("own.csv: 'NaN', as programs write a missing value, is graded as an answer in 3")


def test_items_are_compared_with_those_of_the_run_where_they_are_known(found):
    other = [("1", name, severity) for _, name, severity in WHOLE]
    for assigned in (True, False):
        level, text = found(other, ["s/1"], assigned=assigned)
        assert level == "error" and "item '1' is no item of the run, such as 's/1'" in text
    assert found(other, None) == ("ok", f"3 answers in own.csv{LATER}")


def test_all_answers_are_needed_unless_items_are_assigned_to_corruptions(found):
    level, text = found(WHOLE[:2], ["s/1"])
    assert level == "error" and "add a row with an empty answer where the model gave none" in text
    assert found(WHOLE[:2], ["s/1"], assigned=True) == ("ok", f"2 answers in own.csv{LATER}")


def test_a_file_without_a_column(found):
    level, text = found([], ["s/1"], header="id,corruption,severity,reply")
    assert level == "error" and "has no column 'answer'" in text
