import pytest

from benchc.benchmarks.vqa_robustness.metrics.colour import asks_colour, names_hue
from benchc.benchmarks.vqa_robustness.published.tables import published_table_a3


def test_of_the_papers_questions_those_with_the_problem_miscolor_ask_for_a_colour() -> None:
    for kind, question, truth, _ in published_table_a3().iter_rows():
        assert asks_colour(question, truth) == (kind == "miscolor")


@pytest.mark.parametrize(
    ("question", "truth", "asks"),
    [
        ("NAME THE COLOUR OF THE SHAPE.", "red", True),
        ("What colored shirt is it?", "black and white", True),
        ("What are the colors of the flag?", "red white blue", True),
        ("Is the color red?", "Yes", False),
        ("How many colors are there?", "two", False),
        ("What is the colorless gas?", "steam", False),
        # The rule sees the question's words alone.
        ("Which bar is the highest?", "blue", False),
    ],
)
def test_the_word_and_an_answer_in_words(question: str, truth: str, asks: bool) -> None:
    assert asks_colour(question, truth) == asks


HUES = ["red", "Dark blue.", "white and green", "It is orange", "tan"]
OTHERS = ["", "gray", "dark grey", "black and white", "silver", "plaid", "bluebell"]


@pytest.mark.parametrize("reply", HUES + OTHERS)
def test_a_hue(reply: str) -> None:
    assert names_hue(reply) == (reply in HUES)
