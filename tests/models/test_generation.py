"""The prompt of an answer is that of the model's scoring."""

from benchc.models.generation import Generation
from benchc.models.question import Question, letter_prompt, text_prompt

ASKED = Question("Which?", ("red", "blue"), "Look.")
OPEN = Question("Which?", ())


def test_options_are_listed_as_letter_scoring_does_or_left_out_as_text_scoring_does():
    assert Generation(8, "One word.").prompt(ASKED) == letter_prompt(ASKED)
    assert Generation(8, lists_options=False).prompt(ASKED) == text_prompt(ASKED)


def test_an_instruction_may_stand_before_the_question():
    # ishmamt/VQA-Visual-Robustness-Benchmark, models/llava.py, `predict`.
    instruction = "Answer the given question in a single word using the image as context:"
    first = Generation(8, instruction, lists_options=False, instruction_first=True)
    assert first.prompt(OPEN) == (
        "Answer the given question in a single word using the image as context: " + "Which?"
    )
    assert first.prompt(ASKED) == f"Hint: Look.\n{instruction} Which?"
    assert Generation(8, "", instruction_first=True).prompt(OPEN) == "Question: Which?"


def test_a_prompt_without_options_ends_in_the_instruction():
    for lists_options in (True, False):
        assert Generation(8, "One word.", lists_options).prompt(OPEN) == "Question: Which?\nOne word."
    assert Generation(8).prompt(OPEN) == "Question: Which?"
    asked_openly = Generation(8, "One word.", lists_options=False).prompt(ASKED)
    assert asked_openly == "Hint: Look.\nQuestion: Which?\nOne word."
