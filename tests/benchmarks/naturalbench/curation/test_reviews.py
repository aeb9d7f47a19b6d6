"""Reviews as people return them: what is read, and every mistake."""

import csv
import io
import re
from itertools import product

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.naturalbench.curation import review_files
from benchc.benchmarks.naturalbench.curation.keep import kept_pairs, kept_questions
from benchc.benchmarks.naturalbench.curation.review_csv import (
    read_reviews,
    review_csv,
    reviews_or_stop,
)
from benchc.benchmarks.naturalbench.curation.review_files import (
    ReviewError,
    choices_of_form,
    read_answers,
)
from benchc.benchmarks.naturalbench.curation.review_rows import in_order_of, pair_rows, read_rows
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.kept import KEPT
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS
from benchc.benchmarks.naturalbench.schemas.reviewed import REVIEWED
from benchc.csv_cells import text_of
from benchc.errors import InputError
from benchc.schemas.parquet import check_frame, write_table
from tests.benchmarks.naturalbench.curation.reviewing import SAMPLES, questions, reviewed, rows_of
from tests.benchmarks.naturalbench.drawn import drawn_captions, pairs_of, sample

QUESTION = questions(("p0", "yes_no", 1))
BOTH = rows_of(QUESTION)  # question 1: No for image 0, Yes for image 1


@pytest.mark.parametrize(
    ("anna", "bob", "reason"),
    [
        ([1, 0], [1, 0], None),
        ([1, 0], [1, 1], "disagreement"),
        ([2, 0], [2, 0], "unanswerable"),
        ([1, 2], [1, 2], "unanswerable"),
        ([2, 0], [2, 1], "disagreement"),
        ([0, 1], [0, 1], "wrong_answer"),
        ([1, 1], [1, 1], "wrong_answer"),
    ],
)
def test_a_question_is_kept_if_all_answer_as_expected_on_both_images(anna, bob, reason):
    table = kept_questions(QUESTION, reviewed(BOTH, {"anna": anna, "bob": bob}))
    assert table.rows() == [("p0", "yes_no", 1, reason is None, reason)]
    assert dict(table.schema) == dict(KEPT.columns)


def test_questions_without_a_usable_reply_are_not_kept():
    slots = [("p1", "yes_no", 0), ("p0", "yes_no", 1), ("p0", "multiple_choice", 1)]
    table = questions(*slots, unusable=slots[0])
    rows = rows_of(table)
    kept = kept_questions(table, reviewed(rows, {"a": [1, 0, 1, 0], "b": [1, 0, 1, 1]}))
    assert kept.select("pair", "type", "q_idx", "reason").rows() == [
        (*slots[0], "no_question"),
        (*slots[1], None),
        (*slots[2], "disagreement"),
    ]
    nothing = questions(slots[0], unusable=slots[0])
    assert kept_questions(nothing, reviewed([], {})).rows() == [(*slots[0], False, "no_question")]
    empty = questions()
    assert kept_questions(empty, reviewed([], {})).height == 0


@given(st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=2, max_size=4))
def test_kept_and_reason_agree_with_their_definition(answers):
    kept, reason = kept_questions(
        QUESTION, reviewed(BOTH, {str(n): each for n, each in enumerate(answers)})
    ).row(0)[3:]
    assert kept == all(each == [1, 0] for each in answers)
    assert (reason is None) == kept
    assert (reason == "disagreement") == (any(each != answers[0] for each in answers))
    assert (reason == "unanswerable") == (all(each == answers[0] for each in answers) and 2 in answers[0])


def test_a_pair_is_kept_if_nobody_finds_a_caption_for_both_images():
    pairs = pairs_of([("set/a0", "set/b0"), ("set/a1", "set/b1"), ("set/a2", "set/b2")]).with_columns(
        pair=pl.Series(["p0", "p1", "p2"])
    )
    rows = pair_rows({pair: SAMPLES[pair] for pair in ("p0", "p1", "p2")})
    found = kept_pairs(pairs, reviewed(rows, {"anna": [1, 0, 1], "bob": [1, 1, 1]}))
    assert found["pair"].to_list() == ["p0", "p2"] and found.schema == pairs.schema


ALL = [*product(("p0", "p1"), ("yes_no", "multiple_choice"), (0, 1))]


def test_each_usable_question_is_asked_about_both_images_with_alternating_answers():
    rows = rows_of(questions(*ALL, unusable=("p1", "yes_no", 0)))
    assert [(row.pair, row.type, row.q_idx, row.i_idx) for row in rows] == [
        (*slot, i_idx) for slot in ALL if slot != ("p1", "yes_no", 0) for i_idx in (0, 1)
    ]
    assert [row.expected for row in rows[:4]] == [0, 1, 1, 0]
    assert [row.choices[row.expected] for row in rows[:8]] == ["Yes", "No", "No", "Yes", "A", "B", "B", "A"]
    assert {row.choices[2:] for row in rows} == {("Unanswerable",)}
    assert [row.images for row in rows[:2]] == [("set://a0",), ("set://b0",)]
    assert rows[0].options == () and rows[4].options == ("dog", "cat") and rows[4].captions == ()
    # A pair is kept by No.
    row = pair_rows(SAMPLES)[1]
    assert (row.pair, row.type, row.q_idx, row.i_idx) == ("p1", "pair", None, None)
    assert row.images == ("set://a1", "set://b1") and row.captions == ("dog 1", "cat 1")
    assert row.choices == ("Yes", "No") and row.choices[row.expected] == "No"


def test_ids_are_stable_and_depend_on_all_that_is_asked():
    table = questions(*ALL)
    ids = [row.id for row in rows_of(table)]
    assert ids == [row.id for row in rows_of(table)] and len(set(ids)) == len(ids)
    # Recorded reviews refer to them.
    assert ids[0] == "87b4055516b4b964"
    other = table.with_columns(question=table["question"] + "!")
    for changed in (rows_of(table, 1), rows_of(other)):
        assert not {row.id for row in changed} & set(ids)
    first, second = ({"p": (sample("a", "x"), sample("b", caption))} for caption in "yz")
    assert pair_rows(first)[0].id != pair_rows(second)[0].id


def test_each_annotator_has_another_order_of_the_same_rows():
    rows = rows_of(questions(*ALL))
    orders = {name: [row.id for row in in_order_of(name, rows)] for name in ("anna", "bob", "zoe")}
    assert len({tuple(order) for order in orders.values()}) == 3
    assert all(sorted(order) == sorted(row.id for row in rows) for order in orders.values())
    assert [row.id for row in in_order_of("anna", rows[::-1])] == orders["anna"]


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


def test_a_spreadsheet_computes_no_question_or_option(tmp_path):
    rows = [row._replace(question="=1+1", options=row.options and ("@a", "'tis")) for row in ROWS]
    text = review_csv(rows, "anna")
    (tmp_path / "anna.csv").write_text(text)
    found = [*csv.DictReader(io.StringIO(text))]
    assert {row["question"] for row in found} == {"'=1+1"}
    assert {(row["A"], row["B"]) for row in found} == {("", ""), ("'@a", "'tis")}
    assert {text_of(row["question"]) for row in found} == {"=1+1"}
    assert choices_of_form(tmp_path / "anna.csv") == {row.id: row.choices for row in rows}
    (tmp_path / "anna.csv").write_text(review_csv([row._replace(question="a\rb") for row in rows], "anna"))
    assert choices_of_form(tmp_path / "anna.csv") == {row.id: row.choices for row in rows}
    # Rows may come in any order and form, and with more columns.
    header, *lines = filled()
    form = {"encoding": "utf-8-sig", "lineterminator": "\r\n", "quoting": csv.QUOTE_ALL}
    save(tmp_path / "reviews/0/anna.csv", [[*line, "remark"] for line in (header, *lines[::-1])], **form)
    # Some spreadsheets write more cells than the header has.
    header, *lines = filled("bob")
    save(tmp_path / "reviews/0/bob.csv", [header, *([*line, ""] for line in lines), ["", " "], []])
    assert read(tmp_path)["answer"].to_list() == [0, 1, 2, 1] * 2


def test_the_empty_file_shows_what_is_asked_and_not_what_is_expected(tmp_path):
    header, *lines = csv.reader(io.StringIO(review_csv(in_order_of("anna", ROWS), "anna")))
    assert header == ["id", "annotator", "question", "image", "A", "B", "choices", "answer"]
    assert {line[-1] for line in lines} == {""}
    assert {(line[4], line[5], line[6]) for line in lines} == {
        ("", "", "Yes / No / Unanswerable"),
        ("dog", "cat", "A / B / Unanswerable"),
    }
    pair = next(csv.DictReader(io.StringIO(review_csv(pair_rows(SAMPLES), "anna"))))
    assert (pair["image_1"], pair["image_2"]) == ("set://a0", "set://b0")
    assert (pair["caption_1"], pair["caption_2"], pair["choices"]) == ("dog 0", "cat 0", "Yes / No")
    # A round without rows needs no files.
    table = read(tmp_path, rows=[])
    assert table.height == 0 and dict(table.schema) == dict(REVIEWED.columns)


def lines_of(tmp_path, **options):
    with pytest.raises(ReviewError) as caught:
        read(tmp_path, **options)
    return caught.value.args


def test_all_absent_reviews_are_named_with_their_forms_and_files(tmp_path):
    assert lines_of(tmp_path) == (
        *(
            f"  {name}: no file; open {tmp_path}/forms/0/{name}.html, or fill {tmp_path}/forms/0/{name}.csv, "
            f"and save it as {tmp_path}/reviews/0/{name}.csv"
            for name in ("anna", "bob")
        ),
        f"waiting for anna, bob to review round 0: open the forms in {tmp_path}/forms/0/, save the answers "
        f"in {tmp_path}/reviews/0/, then run the same command again",
    )


def test_to_wait_for_people_ends_the_process_with_all_lines(tmp_path):
    given = (ROWS, ["anna", "bob"], tmp_path / "reviews", tmp_path / "forms", "0")
    with pytest.raises(SystemExit) as caught:
        reviews_or_stop(*given)
    assert str(caught.value).splitlines() == [*lines_of(tmp_path)]
    both(tmp_path)
    assert reviews_or_stop(*given).equals(read(tmp_path))


def test_no_file_is_needed_of_whom_nothing_is_asked(tmp_path):
    save(tmp_path / "bob.csv", filled("bob"))
    choices = {"anna": {}, "bob": {row.id: row.choices for row in ROWS}}
    assert list(read_answers(choices, tmp_path, tmp_path, "0")) == ["bob"]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (filled()[:-1], f"1 of 4 rows without an answer (first: r{ROWS[3].id})"),
        (filled(answers=("", "No", " ", "A")), f"2 of 4 rows without an answer (first: r{ROWS[0].id})"),
    ],
)
def test_an_incomplete_review_is_waited_for(tmp_path, lines, reason):
    both(tmp_path, anna=lines)
    line, end = lines_of(tmp_path)
    assert line.startswith(f"  anna: {reason}; open {tmp_path}/forms/0/anna.html, ")
    assert end.startswith("waiting for anna to review round 0: ")


def with_line(lines, number, **changes):
    header = lines[0]
    changed = [changes.get(name, value) for name, value in zip(header, lines[number], strict=True)]
    return [*lines[:number], changed, *lines[number + 1 :]]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([*filled(), ["r0123", *filled()[1][1:]]], "row 6: id 'r0123' is not in round 0; remove the row, or"),
        ([*filled(), filled()[1]], f"row 6: id r{ROWS[0].id} is also in row 2; remove one of them"),
        (with_line(filled(), 1, annotator="bob"), "row 2: is a review by 'bob', not by anna; give each"),
        (with_line(filled(), 1, answer="A"), "row 2: the answer 'A' is none of Yes, No, Unanswerable"),
        (with_line(filled(), 4, answer="Yes"), "row 5: the answer 'Yes' is none of A, B, Unanswerable"),
        (with_line(filled(), 4, answer="0"), "row 5: the answer '0' is none of A, B, Unanswerable"),
        # At most 40 characters of a cell are shown.
        (with_line(filled(), 1, answer="x" * 41), f"row 2: the answer '{'x' * 40}' is none of Yes"),
        (with_line(filled(), 1, annotator="b" * 41), f"row 2: is a review by '{'b' * 40}', not by anna"),
        ([*filled(), ["9" * 41, *filled()[1][1:]]], f"row 6: id 'r{'9' * 39}' is not in round 0"),
        ([["id", "annotator"]], "has no column 'answer'; keep the columns id, annotator, answer of the form"),
        ([["id", "annotator", "answer", "answer"]], "has two columns 'answer'"),
        ([*filled()[:2], filled()[2][:3]], "row 3: has 3 cells, the header has 8; complete it"),
    ],
)
def test_a_mistake_is_one_line_with_its_row(tmp_path, lines, message):
    both(tmp_path, anna=lines)
    line, end = lines_of(tmp_path)
    assert line.startswith(f"error: {tmp_path}/reviews/0/anna.csv: {message}") and "\n" not in line
    assert end == "correct the reviews of round 0, then run the same command again"


@pytest.mark.parametrize(
    "data", [b"id,annotator,answer\n\xff,anna,Yes\n", b'id,annotator,answer\n"x,anna,Yes\n']
)
def test_a_file_that_is_no_csv_is_one_line(tmp_path, data):
    both(tmp_path)
    (tmp_path / "reviews/0/anna.csv").write_bytes(data)
    line, _ = lines_of(tmp_path)
    assert re.search(r"/anna\.csv: cannot be read as CSV in UTF-8 \(.*\); save it as such$", line)


def test_all_faults_of_all_files_are_named_and_who_is_waited_for(tmp_path):
    anna = with_line(with_line(filled(answers=("", *ANSWERS[1:])), 2, answer="Maybe"), 4, id="r0123")
    both(tmp_path, anna, filled("bob", ["Maybe"] * 4))
    lines = lines_of(tmp_path, annotators=("anna", "bob", "cleo"))
    assert lines[-1].startswith("waiting for anna, cleo to review round 0: ")
    places = [line.removeprefix(f"error: {tmp_path}/reviews/0/").split("; ")[0] for line in lines]
    assert places[:-1] == [
        "anna.csv: row 3: the answer 'Maybe' is none of Yes, No, Unanswerable",
        "anna.csv: row 5: id 'r0123' is not in round 0",
        *(f"bob.csv: row {n}: the answer 'Maybe' is none of Yes, No, Unanswerable" for n in (2, 3)),
        *(f"bob.csv: row {n}: the answer 'Maybe' is none of A, B, Unanswerable" for n in (4, 5)),
        # Not row 3, whose answer is at fault.
        f"  anna: 2 of 4 rows without an answer (first: r{ROWS[0].id})",
        "  cleo: no file",
    ]
    # Ten faults of a file are shown, and the others counted.
    lines = filled()
    both(tmp_path, [*lines, *(["x", "anna", *[""] * 5, "Yes"] for _ in range(13))])
    found = lines_of(tmp_path)
    assert len(found) == 12 and found[-2] == f"error: {tmp_path}/reviews/0/anna.csv: 3 more faults"
    both(tmp_path, [*lines, *(["x", "anna", *[""] * 5, "Yes"] for _ in range(10))])
    assert len(lines_of(tmp_path)) == 11
    both(tmp_path, [filled()[0], *(line[:3] for line in filled()[1:])], [["choices"]])
    found = [line.rpartition("/")[2] for line in lines_of(tmp_path)]
    assert [line.split("; ")[0] for line in found[:-1]] == [
        *(f"anna.csv: row {n}: has 3 cells, the header has 8" for n in (2, 3, 4, 5)),
        *(f"bob.csv: has no column {name!r}" for name in ("id", "annotator", "answer")),
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(("encoding", "end"), [("utf-8-sig", "\r\n"), ("utf-8", "\n")])
def test_spreadsheets_write_other_delimiters_and_line_ends(tmp_path, delimiter, encoding, end):
    rows = [row._replace(question="a, b; c,\nd") for row in ROWS]
    lines = filled(rows=rows)
    both(tmp_path)
    path = tmp_path / "reviews/0/anna.csv"
    digest = review_files.answers_digest(path)
    save(path, lines, encoding, delimiter=delimiter, lineterminator=end)
    assert read(tmp_path)["answer"].to_list() == [0, 1, 2, 1] * 2
    assert review_files.answers_digest(path) == digest


def test_ids_are_no_numbers_and_the_digest_is_of_the_answers(tmp_path):
    rows = [row._replace(id=id_) for row, id_ in zip(ROWS, ("12e4", "1234", "0", "ab"), strict=True)]
    lines = filled(rows=rows)
    assert [line[0] for line in lines[1:]] == ["r12e4", "r1234", "r0", "rab"]
    both(tmp_path, lines, filled("bob", rows=rows))
    assert read(tmp_path, rows=rows)["id"].to_list() == ["12e4", "1234", "0", "ab"] * 2

    def digest(lines, **form):
        save(tmp_path / "x.csv", lines, **form)
        return review_files.answers_digest(tmp_path / "x.csv")

    lines = filled()
    assert digest(lines) == digest([lines[0], *lines[:0:-1]]) == digest(filled(answers=["YES", *ANSWERS[1:]]))
    others = [filled(answers=["No", *ANSWERS[1:]]), lines[:-1], filled("bob"), [["id"]], [["idd"]]]
    assert len({digest(each) for each in [lines, *others]}) == 6
    # The last one is no review.
    with pytest.raises(
        InputError, match=r"x\.csv: has no column 'id'; keep the columns id, annotator, answer"
    ):
        review_files.check_file(tmp_path / "x.csv")
    digest(lines)
    review_files.check_file(tmp_path / "x.csv")


def test_pairs_or_the_questions_of_a_round_are_read(tmp_path):
    captions = drawn_captions(2)
    pairs = pairs_of([tuple(captions["id"])])
    slot = (pairs["pair"][0], "yes_no", 1)
    paths = [tmp_path / name for name in ("pairs.parquet", "captions.parquet", "questions.parquet")]
    for path, table, kind in zip(
        paths, (pairs, captions, questions(slot)), (PAIRS, CAPTIONS, QUESTIONS), strict=True
    ):
        write_table(table, path, kind)
    (row,) = read_rows(*paths[:2], None, None)
    assert (row.pair, row.type, row.captions) == (slot[0], "pair", tuple(captions["caption"]))
    assert [(row.pair, row.type, row.q_idx, row.i_idx) for row in read_rows(*paths, 0)] == [
        (*slot, 0),
        (*slot, 1),
    ]
    for one_of_two in ((paths[2], None), (None, 0)):
        with pytest.raises(InputError, match="--questions and --round: give both for a round"):
            read_rows(*paths[:2], *one_of_two)
