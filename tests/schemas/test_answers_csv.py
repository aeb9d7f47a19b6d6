"""Answers of another program: each item once under each corruption and severity, in the run's order."""

import random
from pathlib import Path

import pytest

from benchc.errors import InputError
from benchc.schemas.answers_csv import read_answers

IDS = ["vqa/7", "vqa/2"]
CORRUPTIONS, SEVERITIES = ["snow", "fog"], [1, 3]
VARIANTS = [("clean", 0), ("snow", 1), ("snow", 3), ("fog", 1), ("fog", 3)]
ROWS = [
    f"{id_},{corruption},{severity},{id_[-1]}{corruption}" for id_ in IDS for corruption, severity in VARIANTS
]


def read(folder: Path, lines: list[str], header: str = "id,corruption,severity,answer", assignment=None):
    path = folder / "other.csv"
    path.write_text("\n".join([header, *lines]) + "\n")
    return read_answers(path, IDS, CORRUPTIONS, SEVERITIES, assignment)


def test_rows_are_in_the_order_of_the_run(tmp_path):
    whole = read(tmp_path, ROWS)
    assert whole.select("id", "corruption", "severity").rows() == [
        (id_, *variant) for id_ in IDS for variant in VARIANTS
    ]
    assert whole["reply"].to_list()[:2] == ["7clean", "7snow"]
    assert whole["finish"].is_null().all()
    shuffled = random.Random(3).sample(ROWS, len(ROWS))
    assert read(tmp_path, shuffled).equals(whole)


def test_an_empty_answer_is_one_and_commas_are_quoted(tmp_path):
    lines = ["vqa/7,clean,0,", 'vqa/7,snow,1,"red, blue"', *ROWS[2:]]
    assert read(tmp_path, lines)["reply"].to_list()[:2] == ["", "red, blue"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (ROWS[:-1], r"1 missing answer: \(vqa/2, fog, 3\); add a row"),
        ([*ROWS, ROWS[3]], r"row 12: item 'vqa/7' has a second answer; remove one"),
        ([*ROWS, "vqa/9,snow,1,x"], r"row 12: item 'vqa/9' is no item of the run"),
        ([*ROWS, ",snow,1,x"], r"row 12: item '' is no item of the run"),
        ([*ROWS, "vqa/7,rain,1,x"], r"row 12: item 'vqa/7' is under none of clean, snow, fog"),
        ([*ROWS, "vqa/7,snow,2,x"], r"row 12: item 'vqa/7' has a severity other than 1, 3, and 0 for clean"),
        ([*ROWS, "vqa/7,snow,high,x"], r"row 12: item 'vqa/7' has a severity other than"),
        ([*ROWS, "vqa/7,clean,1,x"], r"row 12: item 'vqa/7' has a severity other than"),
        ([], r"10 missing answers: \(vqa/2, clean, 0\), "),
    ],
)
def test_other_rows_are_refused(tmp_path, lines, message):
    with pytest.raises(InputError, match=rf"other\.csv: {message}"):
        read(tmp_path, lines)


def test_a_short_row_is_no_empty_answer(tmp_path):
    with pytest.raises(InputError, match=r"row 4: has 3 cells, the header has 4"):
        read(tmp_path, [*ROWS[:2], "vqa/7,snow,3", *ROWS[3:]])
    with pytest.raises(InputError, match="has two columns 'answer'; remove one"):
        read(tmp_path, [f"{row},x" for row in ROWS], "id,corruption,severity,answer,answer")


def test_other_files_are_refused(tmp_path):
    with pytest.raises(
        InputError, match="has no column 'answer' \\(it has id, corruption, severity, reply\\)"
    ):
        read(tmp_path, ROWS, "id,corruption,severity,reply")
    with pytest.raises(InputError, match="no such file"):
        read_answers(tmp_path / "absent.csv", IDS, CORRUPTIONS, SEVERITIES)
    (tmp_path / "empty.csv").write_bytes(b"")
    with pytest.raises(InputError, match="cannot be read as CSV"):
        read_answers(tmp_path / "empty.csv", IDS, CORRUPTIONS, SEVERITIES)


def test_an_assignment_asks_for_its_own_rows(tmp_path):
    cells = {"snow": {"vqa/7": [3]}, "fog": {"vqa/2": [1, 3], "vqa/7": [1]}}
    wanted = [ROWS[0], ROWS[2], ROWS[3], ROWS[5], ROWS[8], ROWS[9]]
    whole = read(tmp_path, wanted[::-1], assignment=cells)
    assert [
        ",".join(map(str, row)) for row in whole.select("id", "corruption", "severity", "reply").rows()
    ] == wanted
    with pytest.raises(InputError, match=r"1 missing answer: vqa/7, clean, severity 0|1 missing answer"):
        read(tmp_path, wanted[1:], assignment=cells)
    with pytest.raises(
        InputError, match=r"1 unexpected answer.*; remove a row that is not of the run's assignment"
    ):
        read(tmp_path, [*wanted, ROWS[1]], assignment=cells)
