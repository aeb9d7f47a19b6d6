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

# By rule: answers, and what they become with it; without it, they are only in lower case.
DROPPED = {"yes.": "yes", "Yes!": "yes", "3.": "3", "p.m.": "pm", "u.s.a": "usa", "...": "", "what?": "what"}
DROPPED |= {"(left)": "left", "[left]": "left", "{left}": "left", '"stop"': "stop", "`stop`": "stop"}
DROPPED |= {"-5": "5", "<b>": "b", "1,000": "1000", "red; blue": "red blue", "t- shirt": "t shirt"}
DROPPED |= {"x -5": "x 5"}
SPACED = {"red;blue": "red blue", "red,blue": "red blue", "red, blue": "red blue", "t-shirt": "t shirt"}
SPACED |= {"black/white": "black white", "black / white": "black white", "stop_sign": "stop sign"}
SPACED |= {"1+1=2": "1 1 2", "me@home": "me home", "a\\b": "b"}
# A comma between digits joins all else as well, a hyphen beside a space another.
JOINED = {"1,000 t-shirts": "1000 tshirts", "t-shirt - red": "tshirt red"}
JOINED |= {"t-shirt -5": "tshirt 5", "red- t-shirt": "red tshirt"}
KEPT = ["3.5", ".5", "don't", "dog's", "50%", "$5", "10:30", "black&white"]
WORDS = {"two": "2", "Zero": "0", "none": "0", "TEN dogs": "10 dogs", "twenty two": "twenty 2"}
ARTICLE = {"a dog": "dog", "an apple": "apple", "The dog and the cat": "dog and cat", "a": ""}
ARTICLE |= {"vitamin a": "vitamin", "theatre": "theatre"}
MARKED = {"dont": "don't", "Dont know": "don't know", "couldnt've": "couldn't've", "oclock": "o'clock"}
MARKED |= {"couldn'tve": "couldn't've", "yall'd've": "y'all'd've", "twas": "'twas", "someonell": "someone'll"}
MARKED |= {"somebody'd": "somebodyd"}
UNMARKED = ["couldntve", "yalld've", "isn't", "well"]
BY_RULE = {
    "punctuation": DROPPED | SPACED | JOINED | dict(zip(KEPT, KEPT, strict=True)),
    "numbers": WORDS | {"eleven": "eleven", "2": "2", "someone": "someone"},
    "articles": ARTICLE,
    "contractions": MARKED | dict(zip(UNMARKED, UNMARKED, strict=True)),
}
CASES = [(rule, *case) for rule, cases in BY_RULE.items() for case in cases.items()]


@pytest.mark.parametrize(("rule", "answer", "expected"), CASES)
def test_each_rule_on_and_off(rule, answer, expected):
    assert normalised(answer) == expected
    assert normalised(answer, replace(ALL, **{rule: False})) == answer.lower()


def test_words_that_punctuation_joins_are_numbers():
    assert normalised("nine-ten") == "9 10"
    assert normalised("nine-ten", replace(ALL, numbers=False)) == "nine ten"


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


REFERENCES = {"Yes.": "yes", "The two dogs": "2 dogs"}
OTHERS = {"no": "yes", "yes": "no", "": "", "...": "the", "a": "the"}


@pytest.mark.parametrize(("answer", "reference"), [*REFERENCES.items(), *OTHERS.items()])
def test_an_answer_agrees_with_its_reference(answer, reference):
    assert agrees(answer, reference) is (answer in REFERENCES)


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
    assert soft_accuracy("a cat", ["Cat"] * matches + ["dog"] * (10 - matches)) == pytest.approx(expected)


def test_soft_accuracy_needs_two_references():
    with pytest.raises(ValueError, match="1 reference answers: the matches of the others need two"):
        soft_accuracy("yes", ["yes"])


@pytest.mark.parametrize("text", ["A", "the", "+", "-", "?", "(a)"])
def test_an_answer_of_which_the_rules_leave_nothing_agrees_with_itself_alone(text):
    assert agrees(text, text) and agrees(f" {text.lower()} ", text)
    assert not agrees("/", text) and not agrees("", text) and not agrees(text, "/")
