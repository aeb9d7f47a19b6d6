import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.errors import InputError
from benchc.judges.constant_answer import best_constant
from benchc.judges.short_answer import agrees, soft_accuracy
from benchc.schemas.references import REFERENCES

WORDS = ["yes", "Yes.", "no", "two", "2", "a dog", "dog", "+", "The", "red, blue"]


def references(rows):
    named = [(f"s/{number}", truth, answers) for number, (truth, answers) in enumerate(rows)]
    return pl.DataFrame(named, schema=pl.Schema(REFERENCES.columns), orient="row")


ROWS = st.lists(st.lists(st.sampled_from(WORDS), min_size=2, max_size=5), min_size=1, max_size=6)


@given(ROWS)
def test_no_word_has_a_larger_mean_grade(rows):
    table = references([(answers[0], answers) for answers in rows])
    graders = {
        "exact": lambda word, answers: word == answers[0],
        "normalised": lambda word, answers: agrees(word, answers[0]),
        "soft": soft_accuracy,
    }
    for grade, grader in graders.items():
        answer, value = best_constant(table, grade)
        means = {word: sum(float(grader(word, row)) for row in rows) / len(rows) for word in (*WORDS, answer)}
        assert value == pytest.approx(max(means.values())) and means[answer] == pytest.approx(value)


def test_the_answer_is_printed_as_it_is_compared():
    table = references([("Two", []), ("2", []), ("no", [])])
    assert best_constant(table, "normalised") == ("2", pytest.approx(2 / 3))
    assert best_constant(table, "exact") == ("2", pytest.approx(1 / 3))  # the first in alphabetical order


def test_soft_grades_need_several_answers():
    with pytest.raises(InputError, match=r"^s/1 has one reference answer, so no soft grade; choose"):
        best_constant(references([("a", ["a", "b"]), ("b", ["b"])]), "soft")
    with pytest.raises(InputError, match="there are no reference answers"):
        best_constant(references([]), "exact")
