"""Which questions are kept, and why others are not."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.naturalbench.curation.keep import kept_pairs, kept_questions
from benchc.benchmarks.naturalbench.curation.review_rows import pair_rows
from benchc.benchmarks.naturalbench.schemas.kept import KEPT
from tests.benchmarks.naturalbench.curation.reviewing import SAMPLES, questions, reviewed, rows_of
from tests.benchmarks.naturalbench.drawn import pairs_of

QUESTION = questions(("p0", "yes_no", 1))
ROWS = rows_of(QUESTION)  # question 1: No for image 0, Yes for image 1


@pytest.mark.parametrize(
    ("anna", "bob", "reason"),
    [
        ([1, 0], [1, 0], None),
        ([1, 0], [1, 1], "disagreement"),
        ([1, 0], [2, 0], "disagreement"),
        ([2, 0], [1, 2], "disagreement"),
        ([2, 0], [2, 0], "unanswerable"),
        ([2, 1], [2, 1], "unanswerable"),
        ([1, 2], [1, 2], "unanswerable"),
        ([2, 0], [2, 1], "disagreement"),
        ([0, 1], [0, 1], "wrong_answer"),
        ([1, 1], [1, 1], "wrong_answer"),
    ],
)
def test_a_question_is_kept_if_all_answer_as_expected_on_both_images(anna, bob, reason):
    table = kept_questions(QUESTION, reviewed(ROWS, {"anna": anna, "bob": bob}))
    assert table.rows() == [("p0", "yes_no", 1, reason is None, reason)]
    assert dict(table.schema) == dict(KEPT.columns)


def test_a_third_annotator_can_disagree():
    right = [1, 0]
    assert kept_questions(QUESTION, reviewed(ROWS, {"a": right, "b": right, "c": right}))["kept"].item()
    table = kept_questions(QUESTION, reviewed(ROWS, {"a": right, "b": right, "c": [1, 2]}))
    assert table["reason"].item() == "disagreement"


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
        QUESTION, reviewed(ROWS, {str(n): each for n, each in enumerate(answers)})
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
