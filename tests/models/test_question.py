import pytest

from benchc.models.question import Question, answer_separator, end_of, letter_prompt, text_prompt


def test_the_letter_prompt_is_vlmevalkits_default():
    question = Question("Which colour?", ("red", "blue"), hint="Look left.")
    assert letter_prompt(question) == (
        "Hint: Look left.\nQuestion: Which colour?\nOptions:\nA. red\nB. blue\n"
        "Please select the correct answer from the options above. \n"
    )


def test_the_text_prompt_lists_no_options():
    assert text_prompt(Question("Which colour?", ("red", "blue"))) == "Question: Which colour?"


@pytest.mark.parametrize(("rendered", "separator"), [("ASSISTANT:", " "), ("assistant\n", ""), ("a ", "")])
def test_one_space_precedes_an_answer(rendered, separator):
    assert answer_separator(rendered) == separator
    assert answer_separator(rendered, ["<|assistant|>"]) == separator


def test_none_follows_a_special_token():
    assert answer_separator("Which? <|assistant|>", ["<|end|>", "<|assistant|>"]) == ""
    assert answer_separator("Which? [/INST]", ["<|assistant|>"]) == " "


def test_an_open_question_has_no_options():
    assert text_prompt(Question("Which colour?", ())) == "Question: Which colour?"


@pytest.mark.parametrize("count", [1, 27])
def test_any_other_question_has_2_to_26_options(count):
    with pytest.raises(ValueError, match="no options or 2 to 26"):
        Question("Which?", tuple(map(str, range(count))))


@pytest.mark.parametrize(
    ("prompt", "end"),
    [
        ("Please answer Yes or No. ASSISTANT:", "…or No. ASSISTANT:"),
        ("or No. ASSISTANT:", "or No. ASSISTANT:"),
        # A word of which the limit is the first letter is whole.
        ("x " + "y" * 20, "…" + "y" * 20),
        ("y" * 30, "…" + "y" * 20),
        ("Answer Yes, or No.\nASSISTANT: ", "…or No.\nASSISTANT: "),
    ],
)
def test_the_end_of_a_prompt_begins_with_a_whole_word(prompt, end):
    assert end_of(prompt) == end
