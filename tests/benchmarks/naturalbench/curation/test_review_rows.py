"""What annotators are asked: stable ids, expected answers, and an order of their own."""

import pytest

from benchc.benchmarks.naturalbench.curation.review_rows import CHOICES, in_order_of, pair_rows
from benchc.benchmarks.naturalbench.curation.samples import Sample
from tests.benchmarks.naturalbench.curation.reviewing import SAMPLES, questions, rows_of
from tests.benchmarks.naturalbench.drawn import sample

ALL = [
    (pair, kind, q_idx) for pair in ("p0", "p1") for kind in ("yes_no", "multiple_choice") for q_idx in (0, 1)
]


def test_each_usable_question_is_asked_about_both_images_with_alternating_answers():
    rows = rows_of(questions(*ALL, unusable=("p1", "yes_no", 0)))
    assert [(row.pair, row.type, row.q_idx, row.i_idx) for row in rows] == [
        (*slot, i_idx) for slot in ALL if slot != ("p1", "yes_no", 0) for i_idx in (0, 1)
    ]
    assert [row.expected for row in rows[:4]] == [0, 1, 1, 0]
    assert [row.choices[row.expected] for row in rows[:8]] == ["Yes", "No", "No", "Yes", "A", "B", "B", "A"]
    assert [row.images for row in rows[:2]] == [("set://a0",), ("set://b0",)]
    assert rows[0].options == () and rows[4].options == ("dog", "cat") and rows[4].captions == ()


def test_a_pair_is_asked_about_with_both_images_and_captions_and_kept_by_no():
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
    first = {"p": (sample("a", "x"), sample("b", "y"))}
    second: dict[str, tuple[Sample, Sample]] = {"p": (sample("a", "x"), sample("b", "z"))}
    assert pair_rows(first)[0].id != pair_rows(second)[0].id


def test_each_annotator_has_another_order_of_the_same_rows():
    rows = rows_of(questions(*ALL))
    orders = {
        annotator: [row.id for row in in_order_of(annotator, rows)] for annotator in ("anna", "bob", "zoe")
    }
    assert len({tuple(order) for order in orders.values()}) == 3
    assert all(sorted(order) == sorted(row.id for row in rows) for order in orders.values())
    assert [row.id for row in in_order_of("anna", rows[::-1])] == orders["anna"]


@pytest.mark.parametrize("kind", ["yes_no", "multiple_choice"])
def test_unanswerable_is_the_last_choice_of_questions(kind):
    assert CHOICES[kind][2] == "Unanswerable" and len(CHOICES[kind]) == 3
