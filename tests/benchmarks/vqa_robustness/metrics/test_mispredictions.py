from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.vqa_robustness.metrics.mispredictions import DENIALS, KINDS, kind_of
from benchc.benchmarks.vqa_robustness.published.tables import published_table_a3


def test_each_example_of_the_paper_has_its_kind() -> None:
    rows = published_table_a3().rows()
    assert Counter(row[0] for row in rows) == dict.fromkeys(KINDS[:-1], 3)
    assert [kind_of(*words) for _, *words in rows] == [row[0] for row in rows]


@pytest.mark.parametrize(
    ("question", "truth", "reply", "kind"),
    [
        # A count that is too high, and one as a word, with the evaluator's numbers.
        ("How many dogs are there?", "2", "3", "other"),
        ("How many dogs are there?", "2", "2.0", "other"),
        ("How many dogs are there?", "three", "Two.", "undercount"),
        ("How many dogs are there?", "2", "none", "undercount"),
        ("How many dogs are there?", "2", "nothing", "blindness"),
        ("How many dogs are there?", "10", "9", "undercount"),
        ("How many dogs are there?", "2", "dogs", "other"),
        ("How many dogs are there?", "lots", "few", "misclassify"),
        # Numbers that are read, not counted.
        ("What number is on the bus?", "23", "21", "misclassify"),
        ("What number is on the bus?", "23", "red", "other"),
        ("What number is on the bus?", "23", "", "other"),
        # Denials: of one another, they deny nothing.
        ("Is it raining?", "no", "yes", "other"),
        ("Is it raining?", "yes", "No.", "blindness"),
        ("Is it raining?", "yes", "rain", "other"),
        ("What is on the plate?", "nothing", "no", "other"),
        ("What is on the plate?", "nothing", "none", "other"),
        ("What is on the plate?", "food", "None", "blindness"),
        ("What is on the plate?", "food", "cant tell", "blindness"),
        ("What is on the plate?", "food", "", "other"),
        ("What is on the plate?", "food", "the", "other"),
        # Colours come before reasons; an answer that is no word is none.
        ("Which colour is the tallest bar?", "red", "blue", "miscolor"),
        ("What color is it?", "red", "no", "blindness"),
        ("What color is it?", "red", "3", "other"),
        ("Is the color red?", "yes", "no", "blindness"),
        ("How many colors are there?", "3", "2", "undercount"),
        # Words that ask for a reason, an action or a comparison, and others like them.
        ("Why is he wet?", "rain", "snow", "irrationality"),
        ("Where is the largest circle?", "left", "right", "irrationality"),
        ("Which is older than the cat?", "dog", "bird", "irrationality"),
        ("What do they hold?", "bats", "balls", "misclassify"),
        ("What is in the forest?", "bear", "deer", "misclassify"),
        ("What is on the chest?", "logo", "name", "misclassify"),
        ("What dog is it?", "poodle", "pug", "misclassify"),
    ],
)
def test_other_answers(question: str, truth: str, reply: str, kind: str) -> None:
    assert kind_of(question, truth, reply) == kind


WORDS = st.one_of(st.sampled_from([*sorted(DENIALS), "yes", "red", "two", "0", "12", "1.5", "a"]), st.text())


@given(st.one_of(st.sampled_from(["How many dogs?", "What color is it?", "Why?"]), st.text()), WORDS, WORDS)
def test_every_answer_has_one_kind_that_case_and_space_do_not_change(question, truth, reply):
    kind = kind_of(question, truth, reply)
    assert kind in KINDS
    if all(text.isascii() for text in (question, truth, reply)):
        assert kind_of(question.upper(), f" {truth.upper()} ", f"\t{reply.upper()}") == kind


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_count_is_too_low_or_too_high(truth: int, reply: int) -> None:
    assert kind_of("How many?", f"{truth}", f"{reply}") == ("undercount" if reply < truth else "other")
