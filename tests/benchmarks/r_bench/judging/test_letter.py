"""Replies to options that a letter decides, and those that need a judge."""

import csv
import io
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.r_bench.judging.comparisons import Comparison, Item
from benchc.benchmarks.r_bench.judging.letter import letter_score, named_option
from tests.shared_data import SHARED, needs_shared

OPTIONS = ["a dog", "A cat", "dog"]
FOLDER = SHARED / "data/real/r-bench"


@pytest.mark.parametrize("reply", ["B", " B\n", "B.", "B)", "B:", "B. A cat", "B: a cat.", "B A cat"])
def test_a_letter_alone_or_before_its_option(reply: str) -> None:
    assert named_option(reply, OPTIONS) == "B"


@pytest.mark.parametrize(
    "reply", ["", "b", "D", "B or C", "B. dog", "Because", "A dog", "The answer is B", "cat", "(", "B.1"]
)
def test_other_replies_need_a_judge(reply: str) -> None:
    assert named_option(reply, OPTIONS) is None


def test_a_reply_that_may_be_a_letter_or_another_option_needs_a_judge() -> None:
    assert named_option("A", ["B", "a", "C"]) is None
    assert named_option("C", ["B", "a", "C"]) == "C"
    # "An" is no letter A before the text "n".
    assert named_option("An", ["n", "m"]) is None


@pytest.mark.parametrize(
    ("reply", "against", "score"),
    [("B", "B.", 1), ("A", "B. A cat", 0), ("A cat", "B", None), ("B", "A cat", None), ("", "", None)],
)
def test_two_letters_agree_or_not(reply: str, against: str, score: float | None) -> None:
    item = Item("s/1", "mcq", "?", tuple(OPTIONS), ("B",))
    assert letter_score(Comparison(item, "jpeg", 1, "com", 0, reply, against)) == score


@given(st.text(max_size=8))
def test_any_reply_names_an_option_or_none(reply: str) -> None:
    assert named_option(reply, OPTIONS) in {"A", "B", "C", None}


def rows_of(name: str) -> list[dict[str, str]]:
    text = (FOLDER / f"{name}.csv").read_bytes().decode("gb18030")
    return list(csv.DictReader(io.StringIO(text, newline="")))


@needs_shared
def test_letters_of_the_released_replies_have_the_recorded_shares() -> None:
    """.4529, .4099 and .3841 of 170, 161 and 164 replies of LLaVA-1.5 are right by their letters."""
    truth = {row["name"]: row for row in rows_of("Ref_Release")}
    right: Counter[str] = Counter()
    items: Counter[str] = Counter()
    for row in rows_of("llava15_dis"):
        if row["type"] == "MCQ":
            item = truth[row["name"]]
            options = re.split(r"(?:^|;\s*)[A-E]\.", item["choice"])[1:]
            items[row["strength"]] += 1
            right[row["strength"]] += named_option(row["answer"], options) == item["answer"]
    assert items == {"1": 170, "2": 161, "3": 164}
    assert {level: round(right[level] / items[level], 4) for level in "123"} == {
        "1": 0.4529,
        "2": 0.4099,
        "3": 0.3841,
    }
