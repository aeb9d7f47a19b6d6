"""The rules of the VQA evaluator, each on and off, and the accuracy by several annotators."""

from dataclasses import fields, replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.judges.short_answer import (
    ALL,
    ARTICLES,
    CONTRACTIONS,
    NUMBERS,
    PUNCTUATION,
    agrees,
    normalised,
    soft_accuracy,
)

# The rule that a case is about, the answer, and what it becomes with the rule and without it.
CASES = [
    ("punctuation", "yes.", "yes", "yes."),
    ("punctuation", "Yes!", "yes", "yes!"),
    ("punctuation", "red; blue", "red blue", "red; blue"),
    ("punctuation", "red;blue", "red blue", "red;blue"),
    ("punctuation", "black/white", "black white", "black/white"),
    ("punctuation", "black / white", "black white", "black / white"),
    ("punctuation", "t-shirt", "t shirt", "t-shirt"),
    ("punctuation", "t- shirt", "t shirt", "t- shirt"),
    ("punctuation", "-5", "5", "-5"),
    ("punctuation", "x -5", "x 5", "x -5"),
    ("punctuation", "(left)", "left", "(left)"),
    ("punctuation", "[left]", "left", "[left]"),
    ("punctuation", "{left}", "left", "{left}"),
    ("punctuation", '"stop"', "stop", '"stop"'),
    ("punctuation", "`stop`", "stop", "`stop`"),
    ("punctuation", "stop_sign", "stop sign", "stop_sign"),
    ("punctuation", "1+1=2", "1 1 2", "1+1=2"),
    ("punctuation", "me@home", "me home", "me@home"),
    ("punctuation", "<b>", "b", "<b>"),
    ("punctuation", "a\\b", "b", "a\\b"),
    ("punctuation", "what?", "what", "what?"),
    ("punctuation", "1,000", "1000", "1,000"),
    ("punctuation", "red,blue", "red blue", "red,blue"),
    ("punctuation", "red, blue", "red blue", "red, blue"),
    # A comma between digits joins all else as well.
    ("punctuation", "1,000 t-shirts", "1000 tshirts", "1,000 t-shirts"),
    # A hyphen beside a space joins another.
    ("punctuation", "t-shirt - red", "tshirt red", "t-shirt - red"),
    ("punctuation", "3.", "3", "3."),
    ("punctuation", "3.5", "3.5", "3.5"),
    ("punctuation", "p.m.", "pm", "p.m."),
    ("punctuation", "u.s.a", "usa", "u.s.a"),
    ("punctuation", ".5", ".5", ".5"),
    ("punctuation", "...", "", "..."),
    ("punctuation", "don't", "don't", "don't"),
    ("punctuation", "dog's", "dog's", "dog's"),
    ("punctuation", "50%", "50%", "50%"),
    ("punctuation", "$5", "$5", "$5"),
    ("punctuation", "10:30", "10:30", "10:30"),
    ("punctuation", "black&white", "black&white", "black&white"),
    ("numbers", "two", "2", "two"),
    ("numbers", "Zero", "0", "zero"),
    ("numbers", "none", "0", "none"),
    ("numbers", "TEN dogs", "10 dogs", "ten dogs"),
    ("numbers", "eleven", "eleven", "eleven"),
    ("numbers", "twenty two", "twenty 2", "twenty two"),
    ("numbers", "2", "2", "2"),
    ("numbers", "someone", "someone", "someone"),
    ("numbers", "nine-ten", "9 10", "nine ten"),
    ("articles", "a dog", "dog", "a dog"),
    ("articles", "an apple", "apple", "an apple"),
    ("articles", "The dog and the cat", "dog and cat", "the dog and the cat"),
    ("articles", "theatre", "theatre", "theatre"),
    ("articles", "a", "", "a"),
    ("articles", "vitamin a", "vitamin", "vitamin a"),
    ("contractions", "dont", "don't", "dont"),
    ("contractions", "Dont know", "don't know", "dont know"),
    ("contractions", "couldnt've", "couldn't've", "couldnt've"),
    ("contractions", "couldn'tve", "couldn't've", "couldn'tve"),
    ("contractions", "couldntve", "couldntve", "couldntve"),
    ("contractions", "yalld've", "yalld've", "yalld've"),
    ("contractions", "yall'd've", "y'all'd've", "yall'd've"),
    ("contractions", "oclock", "o'clock", "oclock"),
    ("contractions", "twas", "'twas", "twas"),
    ("contractions", "isn't", "isn't", "isn't"),
    ("contractions", "well", "well", "well"),
    ("contractions", "somebody'd", "somebodyd", "somebody'd"),
    ("contractions", "someonell", "someone'll", "someonell"),
]


@pytest.mark.parametrize(("rule", "answer", "expected", "without"), CASES)
def test_each_rule_on_and_off(rule, answer, expected, without):
    assert normalised(answer) == expected
    assert normalised(answer, replace(ALL, **{rule: False})) == without


def test_every_rule_and_every_entry_has_a_case():
    assert {rule for rule, *_ in CASES} == {field.name for field in fields(ALL)}
    text = "".join(answer for _, answer, *_ in CASES)
    assert set(PUNCTUATION) <= set(text)
    assert (len(PUNCTUATION), len(NUMBERS), len(ARTICLES), len(CONTRACTIONS)) == (21, 12, 3, 114)


@given(st.text(max_size=30))
def test_spaces_and_case_change_nothing(text):
    once = normalised(text)
    assert normalised(f"  {text}\n\t") == once
    assert once == " ".join(once.split())


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("Yes.", "yes", True),
        ("The two dogs", "2 dogs", True),
        ("no", "yes", False),
        ("", "", False),
        ("...", "the", False),
        ("a", "the", False),
    ],
)
def test_an_answer_agrees_with_its_reference(answer, reference, expected):
    assert agrees(answer, reference) is expected


@given(st.lists(st.sampled_from(["yes", "Yes.", "no", "maybe"]), min_size=2, max_size=10))
def test_soft_accuracy_is_the_mean_over_leave_one_out_subsets(references):
    size = len(references) - 1
    subsets = list(combinations(references, size))
    expected = sum(min(sum(agrees("yes", each) for each in subset) / 3, 1) for subset in subsets)
    assert soft_accuracy("YES", references) == pytest.approx(expected / len(subsets))


@pytest.mark.parametrize(
    ("matches", "expected"), [(0, 0.0), (1, 0.3), (2, 0.6), (3, 0.9), (4, 1.0), (10, 1.0)]
)
def test_soft_accuracy_of_ten_annotators(matches, expected):
    references = ["Cat"] * matches + ["dog"] * (10 - matches)
    assert soft_accuracy("a cat", references) == pytest.approx(expected)


def test_soft_accuracy_needs_two_references():
    with pytest.raises(ValueError, match="1 reference answers: the matches of the others need two"):
        soft_accuracy("yes", ["yes"])


@pytest.mark.parametrize("text", ["A", "the", "+", "-", "?", "(a)"])
def test_an_answer_of_which_the_rules_leave_nothing_agrees_with_itself_alone(text):
    assert agrees(text, text) and agrees(f" {text.lower()} ", text)
    assert not agrees("/", text) and not agrees("", text) and not agrees(text, "/")
