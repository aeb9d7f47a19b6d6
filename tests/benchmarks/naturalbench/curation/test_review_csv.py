"""Reviews as people return them: what is read, and every mistake."""

import csv
import io

import pytest

from benchc.benchmarks.naturalbench.curation.review_csv import read_reviews, review_csv
from benchc.benchmarks.naturalbench.curation.review_rows import in_order_of, pair_rows
from benchc.benchmarks.naturalbench.schemas.reviewed import REVIEWED
from benchc.errors import InputError
from benchc.schemas.parquet import check_frame
from tests.benchmarks.naturalbench.curation.reviewing import SAMPLES, questions, rows_of

ROWS = rows_of(questions(("p0", "yes_no", 0), ("p0", "multiple_choice", 1)))
ANSWERS = ("Yes", "No", "Unanswerable", "b")


def filled(annotator="anna", answers=ANSWERS, rows=ROWS):
    """Return the empty CSV file of a round with its answers filled in, as a list of rows."""
    lines = list(csv.reader(io.StringIO(review_csv(rows, annotator))))
    for line, answer in zip(lines[1:], answers, strict=True):
        line[-1] = answer
    return lines


def save(path, lines, encoding="utf-8", **form):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, **form).writerows(lines)


def read(tmp_path, annotators=("anna", "bob"), rows=ROWS):
    return read_reviews(rows, annotators, tmp_path / "reviews/0", tmp_path / "forms/0", "0")


def both(tmp_path, anna=None, bob=None):
    save(tmp_path / "reviews/0/anna.csv", anna or filled())
    save(tmp_path / "reviews/0/bob.csv", bob or filled("bob"))


def test_the_empty_file_is_filled_and_read_back(tmp_path):
    both(tmp_path, filled(rows=ROWS), filled("bob", [" yes ", "NO", "unanswerable", "A"]))
    table = read(tmp_path)
    check_frame(table, tmp_path, REVIEWED)
    assert table["annotator"].to_list() == ["anna"] * 4 + ["bob"] * 4
    assert table["id"].to_list() == [row.id for row in ROWS] * 2
    assert table["answer"].to_list() == [0, 1, 2, 1, 0, 1, 2, 0]
    assert table["expected"].to_list() == [0, 1, 1, 0] * 2


def test_rows_may_come_in_any_order_form_and_with_more_columns(tmp_path):
    lines = filled()
    save(
        tmp_path / "reviews/0/anna.csv",
        [[*line, "remark"] for line in [lines[0], *lines[:0:-1]]],
        "utf-8-sig",
        lineterminator="\r\n",
        quoting=csv.QUOTE_ALL,
    )
    save(tmp_path / "reviews/0/bob.csv", [*filled("bob"), ["", " "], []])
    assert read(tmp_path)["answer"].to_list() == [0, 1, 2, 1] * 2


def test_the_empty_file_shows_what_is_asked_and_not_what_is_expected():
    header, *lines = csv.reader(io.StringIO(review_csv(in_order_of("anna", ROWS), "anna")))
    assert header == ["id", "annotator", "question", "image", "A", "B", "choices", "answer"]
    assert {line[-1] for line in lines} == {""}
    assert {(line[4], line[5], line[6]) for line in lines} == {
        ("", "", "Yes / No / Unanswerable"),
        ("dog", "cat", "A / B / Unanswerable"),
    }
    pair = next(csv.DictReader(io.StringIO(review_csv(pair_rows(SAMPLES), "anna"))))
    assert (pair["image_0"], pair["image_1"]) == ("set://a0", "set://b0")
    assert (pair["caption_0"], pair["caption_1"], pair["choices"]) == ("dog 0", "cat 0", "Yes / No")


def test_a_round_without_rows_needs_no_files(tmp_path):
    table = read(tmp_path, rows=[])
    assert table.height == 0 and dict(table.schema) == dict(REVIEWED.columns)


def test_absent_files_are_a_line_each_that_says_where_the_form_is(tmp_path):
    with pytest.raises(InputError) as caught:
        read(tmp_path)
    assert caught.value.args == tuple(
        f"{tmp_path}/reviews/0/{name}.csv: no such file; without an answer: 4 rows of round 0 (first: "
        f"{ROWS[0].id}, {ROWS[1].id}, {ROWS[2].id}); open {tmp_path}/forms/0/{name}.html, or fill "
        f"{tmp_path}/forms/0/{name}.csv, and save it as {tmp_path}/reviews/0/{name}.csv"
        for name in ("anna", "bob")
    )


def with_line(lines, number, **changes):
    header = lines[0]
    changed = [changes.get(name, value) for name, value in zip(header, lines[number], strict=True)]
    return [*lines[:number], changed, *lines[number + 1 :]]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (filled()[:-1], f"without an answer: 1 row of round 0 (first: {ROWS[3].id}); open"),
        (
            filled(answers=("", "No", " ", "A")),
            f"without an answer: 2 rows of round 0 (first: {ROWS[0].id}, {ROWS[2].id}); open",
        ),
        (with_line(filled(), 2, id="0123"), "row 3: id '0123' is not in round 0; remove the row, or, if the"),
        ([*filled(), filled()[1]], f"row 6: id {ROWS[0].id} is also in row 2; remove one of them"),
        (filled("bob"), "row 2: is a review by 'bob', not by anna; give each their own file"),
        (
            with_line(filled(), 1, answer="A"),
            "row 2: the answer 'A' is none of Yes, No, Unanswerable; correct it",
        ),
        (with_line(filled(), 4, answer="Yes"), "row 5: the answer 'Yes' is none of A, B, Unanswerable"),
        (with_line(filled(), 4, answer="0"), "row 5: the answer '0' is none of A, B, Unanswerable"),
        (
            [["id;annotator;answer"]],
            "has no column 'id'; keep the columns id, annotator, answer of the form, separated by",
        ),
        ([], "has no column 'id'"),
        ([["id", "annotator", "answer", "answer"]], "has two columns 'answer'"),
        ([*filled()[:2], filled()[2][:3]], "row 3: has 3 cells, the header has 8; complete it"),
    ],
)
def test_a_mistake_is_one_line_with_its_row(tmp_path, lines, message):
    both(tmp_path, anna=lines or [[]])
    with pytest.raises(InputError) as caught:
        read(tmp_path)
    (line,) = caught.value.args
    assert line.startswith(f"{tmp_path}/reviews/0/anna.csv: {message}") and "\n" not in line


@pytest.mark.parametrize(
    "data", [b"id,annotator,answer\n\xff,anna,Yes\n", b'id,annotator,answer\n"x,anna,Yes\n']
)
def test_a_file_that_is_no_csv_is_one_line(tmp_path, data):
    both(tmp_path)
    (tmp_path / "reviews/0/anna.csv").write_bytes(data)
    with pytest.raises(
        InputError, match=r"anna\.csv: cannot be read as CSV in UTF-8 \(.*\); save it as such"
    ):
        read(tmp_path)


def test_all_annotators_with_a_mistake_are_named(tmp_path):
    both(tmp_path, filled("bob"), filled("bob")[:-1])
    with pytest.raises(InputError) as caught:
        read(tmp_path)
    assert [line.split(": ")[0].rpartition("/")[2] for line in caught.value.args] == ["anna.csv", "bob.csv"]
