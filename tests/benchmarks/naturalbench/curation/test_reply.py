import json
import lzma
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.naturalbench.curation.reply import Written, read_reply
from benchc.endpoint.language_model import UnusableError
from tests.shared_data import SHARED, needs_shared

SPLIT = SHARED / "data/real/naturalbench/test_set.json.xz"


def value(question: object, first: object, second: object, **more: object) -> dict[str, object]:
    return {"Question": question, "Caption1 Answer": first, "Caption2 Answer": second, **more}


YES_NO = {"0": value("Is it red?", "Yes", "No"), "1": value("Is it blue?", "No", "Yes")}
CHOICE = {
    "0": value("Which colour?\nOption: A: red; B: blue;", "A", "B"),
    "1": value("What is it?\nOption: A: a dog; B: a cat;", "B", "A"),
}
EXPECTED = {
    "yes_no": (Written("Is it red?", "Yes", "No"), Written("Is it blue?", "Yes", "No")),
    "multiple_choice": (Written("Which colour?", "red", "blue"), Written("What is it?", "a dog", "a cat")),
}


def changed(replies: dict[str, object], number: str, **changes: object) -> str:
    return json.dumps({**replies, number: {**replies[number], **changes}})


@pytest.mark.parametrize(
    "wrap", ["{}", "```json\n{}\n```", "```\n{}\n```", "Sure:\n```JSON\n{}\n```\nGood luck!", "\n {} "]
)
@pytest.mark.parametrize(("kind", "replies"), [("yes_no", YES_NO), ("multiple_choice", CHOICE)])
def test_a_good_reply_gives_both_questions(kind, replies, wrap):
    assert read_reply(wrap.replace("{}", json.dumps(replies, indent=1)), kind) == EXPECTED[kind]


@pytest.mark.parametrize(
    "answers", [("Yes.", "No."), ("yes", "NO"), ("Yes, it is.", "No, it is blue"), (" Yes ", "No")]
)
def test_yes_and_no_may_have_case_and_more_words(answers):
    text = json.dumps({**YES_NO, "0": value("Is  it\nred?", *answers)})
    assert read_reply(text, "yes_no")[0] == Written("Is it red?", "Yes", "No")


@pytest.mark.parametrize(
    "question",
    [
        value("Which colour? A) red B) blue", "A", "B"),
        value("Which colour?\nA. red\nB. blue", "A.", "B."),
        value("Which colour\n(A) red\n(B) blue", "(A)", "(B)"),
        value("Which colour? Options: A: red, B: blue", "A: red", "B: blue"),
        value("Which colour? (A) red (B) blue", "Option A", "Option B"),
        value("Which colour?", "A: red", "B: blue"),
        value("Which colour?", "A", "B", **{"Option A": "red", "Option B": "blue"}),
        value("Which colour?", "A", "B", Options={"A": "red", "B": "blue"}),
        value("Which colour?", "red", "Blue.", Options={"A": "red", "B": "blue"}),
        {"question": "Which colour?", "caption_1_answer": "A: red", "CAPTION2-ANSWER": "B: blue"},
    ],
)
def test_options_are_found_where_models_write_them(question):
    found = read_reply(json.dumps({**CHOICE, "0": question}), "multiple_choice")[0]
    assert found in (Written("Which colour?", "red", "blue"), Written("Which colour", "red", "blue"))


@pytest.mark.parametrize(
    ("kind", "number", "question", "expected"),
    [
        ("yes_no", "0", value("a" * 1999 + "?", "Yes", "No"), ("a" * 1999 + "?", "Yes", "No")),
        # The options of the second question are in their own order.
        ("multiple_choice", "1", value("What?", "B: a cat", "A: a dog"), ("What?", "a dog", "a cat")),
        # A letter inside a sentence is no option.
        ("multiple_choice", "0", value("Is A. Smith right?\nA: left; B: right", "A", "B"),
         ("Is A. Smith right?", "left", "right")),
    ],
)  # fmt: skip
def test_a_question_may_be_long_and_has_options_of_its_own(kind, number, question, expected):
    replies = {**(YES_NO if kind == "yes_no" else CHOICE), number: question}
    assert read_reply(json.dumps(replies), kind)[int(number)] == Written(*expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the reply is not JSON"),
        ("I am sorry.", "the reply is not JSON"),
        ('{"0": ', "the reply is not JSON"),
        ("[" * 100_000, "the reply is not JSON"),
        ("[]", "the reply is not a JSON object"),
        ("3", "the reply is not a JSON object"),
        (json.dumps({"0": YES_NO["0"]}), "the reply has no question 1"),
        ("{}", "the reply has no question 0"),
        (json.dumps({"1": YES_NO["0"], "2": YES_NO["1"]}), "the reply has no question 0"),
    ],
)
def test_a_reply_that_is_not_usable_says_why(text, message):
    with pytest.raises(UnusableError, match=f"^{message}$"):
        read_reply(text, "yes_no")


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("yes_no", {"Caption1 Answer": "No", "Caption2 Answer": "Yes"}, "its answers are 'No' and 'Yes'"),
        ("yes_no", {"Caption2 Answer": "Yes"}, "its answers are 'Yes' and 'Yes', not"),
        ("yes_no", {"Caption2 Answer": "Nobody"}, "its answers are 'Yes' and 'Nobody', not"),
        ("yes_no", {"Caption2 Answer": "unclear"}, "its answers are 'Yes' and 'unclear', not"),
        # At most 40 characters of an answer are shown.
        ("yes_no", {"Caption2 Answer": "x" * 41}, f"its answers are 'Yes' and '{'x' * 40}', not"),
        ("yes_no", {"Caption2 Answer": False}, "it has no answer for caption 2"),
        ("yes_no", {"Caption1 Answer": " "}, "it has no answer for caption 1"),
        ("yes_no", {"Question": None}, "it has no question"),
        ("yes_no", {"Question": "a" * 2001}, "its question has more than 2,000 characters"),
        ("yes_no", {"Question": "red\0?"}, "its question has characters that are no text"),
        ("yes_no", {"Question": "red\ud800?"}, "its question has characters that are no text"),
        ("multiple_choice", {"Caption1 Answer": "B", "Caption2 Answer": "A"}, "its answers are 'B' and 'A'"),
        ("multiple_choice", {"Caption2 Answer": "A"}, "its answers are 'A' and 'A', not"),
        ("multiple_choice", {"Caption2 Answer": "C"}, "its answers are 'A' and 'C', not"),
        ("multiple_choice", {"Question": "Which colour?"}, "its options A and B are not found"),
        ("multiple_choice", {"Question": "Which? A: Red; B: red."[:-1]}, "its options are equal"),
        ("multiple_choice", {"Option A": "red"}, "it has no option B"),
        # Which of two equal options an answer repeats is unknown.
        (
            "multiple_choice",
            dict.fromkeys(("Option A", "Option B", "Caption1 Answer", "Caption2 Answer"), "red"),
            "its answers are 'red' and 'red', not 'A' and 'B'",
        ),
    ],
)
def test_a_question_that_is_not_usable_leaves_the_other(kind, changes, message):
    replies = {"yes_no": YES_NO, "multiple_choice": CHOICE}[kind]
    first, second = read_reply(changed(replies, "0", **changes), kind)
    assert isinstance(first, UnusableError) and str(first).startswith(f"question 0: {message}")
    assert second == EXPECTED[kind][1]


def test_the_second_question_needs_the_answers_in_the_other_order():
    first, second = read_reply(json.dumps({"0": YES_NO["0"], "1": YES_NO["0"]}), "yes_no")
    assert first == EXPECTED["yes_no"][0]
    assert str(second) == "question 1: its answers are 'Yes' and 'No', not 'No' and 'Yes'"
    assert "it is not a JSON object" in str(read_reply(json.dumps({**YES_NO, "1": "Is it?"}), "yes_no")[1])


KEYS = st.sampled_from(["0", "1", "Question", "Caption1 Answer", "Options"])
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(json_values, st.sampled_from(["yes_no", "multiple_choice"]))
def test_no_reply_is_another_error(content, kind):
    try:
        for question in read_reply(json.dumps(content), kind):
            assert isinstance(question, UnusableError | Written)
    except UnusableError:
        pass


@needs_shared
def test_all_950_published_groups_are_usable_replies():
    rows = json.loads(lzma.decompress(SPLIT.read_bytes()))
    suffixes = re.compile("Please (answer Yes or No|output the letter corresponding to the correct option).$")
    options = 0
    for group in range(0, len(rows), 4):
        kind = "yes_no" if rows[group][3] == "yes_no" else "multiple_choice"
        texts = [suffixes.sub("", rows[group + 2 * number][0]) for number in (0, 1)]
        answers = [[row[2] for row in rows[group + 2 * number :][:2]] for number in (0, 1)]
        reply = {str(number): value(texts[number], *answers[number]) for number in (0, 1)}
        for text, found in zip(texts, read_reply(json.dumps(reply), kind), strict=True):
            assert isinstance(found, Written), text
            whole = re.fullmatch(r"(.*)\nOption: A:(.*); B:(.*);", text, re.DOTALL)
            if kind == "multiple_choice" and whole:
                assert found == tuple(" ".join(part.split()) for part in whole.groups())
                options += 1
    # Three questions are written otherwise.
    assert len(rows) == 3800 and options == 211
