"""Answers in replies."""

import pytest

from benchc.benchmarks.naturalbench.metrics.extraction import answer_of

YES_NO, LETTERS = "yes_no", "multiple_choice"


@pytest.mark.parametrize(
    ("reply", "strict", "official"),
    [
        ("Yes", 0, 0),
        ("no.", 1, 1),
        ("YES, there is no dog.", 0, 0),
        ("No, yes", 1, 1),
        ("There are none.", None, None),
        ("Nobody knows", None, None),
        ("", None, None),
        ("I cannot say, but not yesterday", None, None),
        ("<think>yes? no</think> No", 1, 0),
        ("<think>yes, it", None, 0),
    ],
)
def test_yes_and_no(reply, strict, official):
    assert answer_of(reply, YES_NO) == strict
    assert answer_of(reply, YES_NO, "official") == official


@pytest.mark.parametrize(
    ("reply", "strict", "official"),
    [
        ("A", 0, 0),
        ("B", 1, 1),
        ("(B) a cat", 1, 1),
        ("B: the dog", 1, 1),
        ("Answer: A.", 0, 0),
        ("Option A is right", 0, 0),
        ("A or B", 0, 0),
        ("B, not A", 1, 1),
        ("A. a dog", 0, 0),
        ("A\nthe dog", 0, 0),
        # The article is the letter A in the paper's code alone.
        ("It is a dog, so B", 1, 0),
        ("A dog. The answer is B", 1, 0),
        ("a", None, 0),
        ("b", None, 1),
        ("a dog", None, 0),
        ("AB", None, None),
        ("Bob's", None, None),
        ("A's colour", None, 0),
        ("the dog", None, None),
        ("<think>A</think>B", 1, 0),
    ],
)
def test_letters(reply, strict, official):
    assert answer_of(reply, LETTERS) == strict
    assert answer_of(reply, LETTERS, "official") == official


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("dark red", 0),
        ("It is red.", 1),
        ("Red, not dark  red", 1),
        ("The colour is DARK\nRED", 0),
        ("redder", None),
        ("A", None),
        ("<think>red</think>dark red", 0),
    ],
)
def test_options_that_are_called_by_their_texts(reply, option):
    assert answer_of(reply, LETTERS, texts=("dark red.", "red")) == option
    # Of two texts that begin at one place, the longer one.
    assert answer_of("dark red", LETTERS, texts=("dark", "dark red")) == 1
    # Yes and No are called so in any prompt.
    assert answer_of("no", YES_NO, texts=("Yes", "No")) == 1


def test_types_do_not_mix():
    assert answer_of("Yes", LETTERS) is None and answer_of("A", YES_NO) is None
