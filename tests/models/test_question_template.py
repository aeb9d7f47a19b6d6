import pytest

from benchc.models.generation import Generation
from benchc.models.question import Question, bare_prompt
from benchc.models.question_template import QuestionTemplate

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


def test_a_question_with_options_can_be_asked_without_them():
    question = Question("Which colour?", ("red", "blue"))
    assert asked("Describe it.", question) == "Describe it."
    # A reply is in words: no letter of an option is scored.
    assert QuestionTemplate(MCQ).asked(question).options == ()


def test_a_hint_precedes_the_question():
    question = Question("Who is it?", (), "A portrait.")
    assert asked("{question}. In short.", question) == "A portrait.\nWho is it?. In short."
    assert asked("Describe it.", question) == "Describe it."


@pytest.mark.parametrize("text", ["What is {options}?", r"Is it \1 or {}?", "{question}"])
def test_braces_and_backslashes_of_a_question_stay(text):
    assert asked("{question} {x}", Question(text, ("red", "blue"))) == f"{text} {{x}}"


def test_a_model_without_a_chat_template_reads_the_bare_question():
    assert bare_prompt(QuestionTemplate(MCQ).asked(Question("Is it?", ("Yes", "No")))) == "Is it?"
