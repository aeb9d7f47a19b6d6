import random
import re
from pathlib import Path

import pytest

from benchc.errors import InputError
from benchc.schemas.answers_csv import read_answers

IDS = ["vqa/7", "vqa/2"]
CORRUPTIONS, SEVERITIES = ["snow", "blur"], [1, 3]
VARIANTS = [("clean", 0), ("snow", 1), ("snow", 3), ("blur", 1), ("blur", 3)]
ROWS = [f"{id_},{name},{severity},{id_[-1]}{name}" for id_ in IDS for name, severity in VARIANTS]


def read(folder: Path, lines: list[str], header: str = "id,corruption,severity,answer", assignment=None):
    path = folder / "other.csv"
    path.write_text("\n".join([header, *lines]) + "\n")
    return read_answers(path, IDS, CORRUPTIONS, SEVERITIES, assignment)


def test_rows_are_in_the_order_of_the_run(tmp_path):
    whole = read(tmp_path, ROWS)
    keys = [(id_, *variant) for id_ in IDS for variant in VARIANTS]
    assert whole.select("id", "corruption", "severity").rows() == keys
    assert whole["reply"].to_list()[:2] == ["7clean", "7snow"]
    assert whole["finish"].is_null().all()
    assert read(tmp_path, random.Random(3).sample(ROWS, len(ROWS))).equals(whole)
    # As pandas writes numbers of a column with gaps.
    floats = [re.sub(r",(\d),", r",\1.0,", row) for row in ROWS]
    assert read(tmp_path, floats).equals(whole)
    # An empty answer is one, and commas are quoted.
    lines = ["vqa/7,clean,0,", 'vqa/7,snow,1,"red, blue"', *ROWS[2:]]
    assert read(tmp_path, lines)["reply"].to_list()[:2] == ["", "red, blue"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (ROWS[:-1], r"1 missing answer: \(vqa/2, blur, 3\); add a row"),
        ([*ROWS, ROWS[3]], r"row 12: item 'vqa/7' has a second answer; remove one"),
        (
            [*ROWS, "vqa/9,snow,1,x", "vqa/8,snow,1,x"],
            "row 12: item 'vqa/9' is no item of the run, such as 'vqa/7'; cor",
        ),
        ([*ROWS, ",snow,1,x"], r"row 12: item '' is no item of the run"),
        (
            [*ROWS, "vqa/7,rain,1,x"],
            "row 12: item 'vqa/7' is under 'rain', which is none of clean, snow, blur",
        ),
        *(
            (
                [*ROWS, f"vqa/7,{name},{level},x"],
                f"row 12: item 'vqa/7' has the severity '{level}'; it should be 0 for clean, and one of 1, 3",
            )
            for name, level in (
                *(("snow", text) for text in ("2", "2.5", "high")),
                ("clean", "1"),
                ("clean", "-1"),
            )
        ),
        ([], r"10 missing answers: \(vqa/2, blur, 1\), "),
    ],
)
def test_other_rows_are_refused(tmp_path, lines, message):
    with pytest.raises(InputError, match=rf"other\.csv: .*{message}"):
        read(tmp_path, lines)


def test_a_short_row_is_no_empty_answer(tmp_path):
    with pytest.raises(InputError, match=r"row 4: has fewer cells than the header"):
        read(tmp_path, [*ROWS[:2], "vqa/7,snow,3", *ROWS[3:]])
    with pytest.raises(InputError, match="has two columns 'answer'; remove one"):
        read(tmp_path, [f"{row},x" for row in ROWS], "id,corruption,severity,answer,answer")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"cannot be read \(No such file"),
        (b"", "has no column 'id'"),
        (b"id,corruption,reply\n", r"has no column 'severity' \(it has id, corruption, reply\)"),
        (b"id,corruption,severity,answer\nvqa/7,clean,0,\xe9\n", "row 2: the byte 0xe9 is not of UTF-8"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    if content is not None:
        (tmp_path / "other.csv").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_answers(tmp_path / "other.csv", IDS, CORRUPTIONS, SEVERITIES)


def test_an_assignment_asks_for_its_own_rows(tmp_path):
    cells = {"snow": {"vqa/7": [3]}, "blur": {"vqa/2": [1, 3], "vqa/7": [1]}}
    wanted = [ROWS[0], ROWS[2], ROWS[3], ROWS[5], ROWS[8], ROWS[9]]
    whole = read(tmp_path, wanted[::-1], assignment=cells).select("id", "corruption", "severity", "reply")
    assert [",".join(map(str, row)) for row in whole.rows()] == wanted
    with pytest.raises(InputError, match=r"1 missing answer: .*; add a row with an empty answer where"):
        read(tmp_path, wanted[1:], assignment=cells)
    unexpected = r"1 unexpected answer.*; remove a row that is not of the run's assignment"
    with pytest.raises(InputError, match=unexpected):
        read(tmp_path, [*wanted, ROWS[1]], assignment=cells)


@pytest.mark.parametrize(
    ("count", "answer", "other", "warns"),
    [(20, "No", "NO", True), (21, "N" * 81, "n" * 81, True), (20, "No", "x", False), (19, "No", "NO", False)],
)
def test_one_answer_to_all_items_is_a_warning(tmp_path, capsys, count, answer, other, warns):
    path, ids = tmp_path / "other.csv", [f"vqa/{number}" for number in range(count)]
    answers = [answer, *[answer.lower()] * (count - 2), other]
    rows = [f"{id_},clean,0,{answer}" for id_, answer in zip(ids, answers, strict=True)]
    path.write_text("\n".join(["id,corruption,severity,answer", *rows]))
    assert read_answers(path, ids, [], []).height == count
    said = f"all {count} answers are '{answer[:80]}'; check the file, and how the model was asked"
    line = f"warning: {path}: {said}\n"
    assert capsys.readouterr().err == (line if warns else "")


def test_answers_that_are_a_missing_value_are_a_warning(tmp_path, capsys):
    path = tmp_path / "other.csv"
    rows = [f"{id_},clean,0,{answer}" for id_, answer in enumerate(["<NA>", "nan", "none", "", "naan"])]
    path.write_text("\n".join(["id,corruption,severity,answer", *rows]))
    assert read_answers(path, [*"01234"], [], [])["reply"].to_list() == ["<NA>", "nan", "none", "", "naan"]
    said = "'<NA>', as programs write a missing value, is graded as an answer in 2 rows; leave the"
    assert capsys.readouterr().err == f"warning: {path}: {said} answer empty where the model gave none\n"
