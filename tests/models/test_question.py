import pytest

from benchc.models.generation import Generation
from benchc.models.question import (
    Question,
    answer_separator,
    bare_prompt,
    end_of,
    in_words,
    letter_prompt,
    open_prompt,
    text_prompt,
)
from benchc.models.question_template import QuestionTemplate


def test_the_letter_prompt_is_vlmevalkits_default_and_that_of_texts_lists_no_options():
    question = Question("Which colour?", ("red", "blue"), hint="Look left.")
    assert letter_prompt(question) == (
        "Hint: Look left.\nQuestion: Which colour?\nOptions:\nA. red\nB. blue\n"
        "Please select the correct answer from the options above. \n"
    )
    for options in (("red", "blue"), ()):
        assert text_prompt(Question("Which colour?", options)) == "Question: Which colour?"


@pytest.mark.parametrize(
    ("rendered", "special", "separator"),
    [
        ("ASSISTANT:", None, " "),
        *((text, special, "") for text in ("assistant\n", "a ") for special in (None, ["<|assistant|>"])),
        ("ASSISTANT:", ["<|assistant|>"], " "),
        ("Which? <|assistant|>", ["<|end|>", "<|assistant|>"], ""),
        ("Which? [/INST]", ["<|assistant|>"], " "),
    ],
)
def test_one_space_precedes_an_answer_but_after_a_special_token(rendered, special, separator):
    assert answer_separator(*filter(None, (rendered, special))) == separator


@pytest.mark.parametrize("count", [1, 27])
def test_any_other_question_has_2_to_26_options(count):
    # Of a long question, the beginning is shown.
    text = "Which of " + "them" * 20
    with pytest.raises(ValueError, match=f"no options or 2 to 26, .* {count}: '{text[:80]}'; remove"):
        Question(text, tuple(map(str, range(count))))
    assert len(Question(text, tuple(map(str, range(26)))).letters) == 26


@pytest.mark.parametrize(
    ("prompt", "end"),
    [
        ("Please answer Yes or No. ASSISTANT:", "…or No. ASSISTANT:"),
        ("or No. ASSISTANT:", "or No. ASSISTANT:"),
        ("Is it so? ASSISTANT:", "Is it so? ASSISTANT:"),  # of 20 characters
        # A word of which the limit is the first letter is whole.
        ("x " + "y" * 20, "…" + "y" * 20),
        ("y" * 30, "…" + "y" * 20),
        ("Answer Yes, or No.\nASSISTANT: ", "…or No.\nASSISTANT: "),
    ],
)
def test_the_end_of_a_prompt_begins_with_a_whole_word(prompt, end):
    assert end_of(prompt) == end


@pytest.mark.parametrize("labels", [("Yes", "No"), ("10", "20"), ("b", "a")])
def test_labels_other_than_letters_are_named_one_by_one(labels):
    assert in_words(tuple("ABCD")) == "letters A to D"
    assert in_words(labels) == f"answers {labels[0]} and {labels[1]}"


MCQ = "{question}\n{options}\nAnswer with the option's letter from the given choices directly."


def asked(text: str, question: Question) -> str:
    # As the stage answer asks: the template replaces all that Generation would add.
    return Generation(10).prompt(QuestionTemplate(text).asked(question))


def test_question_and_options_are_in_their_places():
    question = Question("Which colour?", ("red", "light blue", "green"))
    assert asked(MCQ, question) == (
        "Which colour?\nA.red; B.light blue; C.green\n"
        "Answer with the option's letter from the given choices directly."
    )
    assert asked("{option_lines}\n{question}", question) == "A. red\nB. light blue\nC. green\nWhich colour?"
    # A hint precedes the question.
    question = Question("Who is it?", (), "A portrait.")
    assert asked("{question}. In short.", question) == "A portrait.\nWho is it?. In short."
    assert asked("Describe it.", question) == "Describe it."


def test_a_question_with_options_can_be_asked_without_them():
    question = Question("Which colour?", ("red", "blue"))
    assert asked("Describe it.", question) == "Describe it."
    # A reply is in words: no letter of an option is scored.
    assert QuestionTemplate(MCQ).asked(question).options == ()
    # A model without a chat template reads the bare question.
    assert bare_prompt(QuestionTemplate(MCQ).asked(Question("Is it?", ("Yes", "No")))) == "Is it?"


@pytest.mark.parametrize("text", ["What is {options}?", r"Is it \1 or {}?", "{question}"])
def test_braces_and_backslashes_of_a_question_stay(text):
    assert asked("{question} {x}", Question(text, ("red", "blue"))) == f"{text} {{x}}"


ASKED = Question("Which?", ("red", "blue"), "Look.")
OPEN = Question("Which?", ())


def test_options_are_listed_as_letter_scoring_does_or_left_out_as_text_scoring_does():
    assert Generation(8, "One word.").prompt(ASKED) == letter_prompt(ASKED)
    assert Generation(8, lists_options=False).prompt(ASKED) == text_prompt(ASKED)


def test_an_instruction_may_stand_before_the_question():
    # ishmamt/VQA-Visual-Robustness-Benchmark, models/llava.py, `predict`.
    instruction = "Answer the given question in a single word using the image as context:"
    first = Generation(8, instruction, lists_options=False, instruction_first=True)
    assert first.prompt(OPEN) == f"{instruction} Which?"
    assert first.prompt(ASKED) == f"Hint: Look.\n{instruction} Which?"
    assert Generation(8, "", instruction_first=True).prompt(OPEN) == "Question: Which?"


def test_a_prompt_without_options_ends_in_the_instruction():
    for lists_options in (True, False):
        assert Generation(8, "One word.", lists_options).prompt(OPEN) == "Question: Which?\nOne word."
    assert Generation(8).prompt(OPEN) == "Question: Which?"
    asked_openly = Generation(8, "One word.", lists_options=False).prompt(ASKED)
    assert asked_openly == open_prompt(ASKED, "One word.") == "Hint: Look.\nQuestion: Which?\nOne word."
