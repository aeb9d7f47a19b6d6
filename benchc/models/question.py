"""The question of an item, and its prompts."""

from collections.abc import Iterable
from dataclasses import dataclass

from benchc.errors import InputError
from benchc.letters import LETTERS


@dataclass(frozen=True)
class Question:
    """The text of an item. Option k has the letter ``LETTERS[k]``; an open-ended question has no options."""

    question: str
    options: tuple[str, ...]
    hint: str | None = None

    def __post_init__(self) -> None:
        if len(self.options) == 1 or len(self.options) > len(LETTERS):
            raise InputError(
                f"a question has no options or 2 to {len(LETTERS)}, but this one has {len(self.options)}: "
                f"{self.question[:80]!r}; remove the item"
            )


def letter_prompt(question: Question) -> str:
    """Return VLMEvalKit's default multiple-choice prompt, which asks for a letter."""
    hint = f"Hint: {question.hint}\n" if question.hint else ""
    options = "".join(f"{letter}. {text}\n" for letter, text in zip(LETTERS, question.options, strict=False))
    return (
        f"{hint}Question: {question.question}\nOptions:\n{options}"
        "Please select the correct answer from the options above. \n"
    )


def text_prompt(question: Question) -> str:
    """Return the prompt whose continuation is an option's text; it does not list the options."""
    hint = f"Hint: {question.hint}\n" if question.hint else ""
    return f"{hint}Question: {question.question}"


def open_prompt(question: Question, instruction: str = "") -> str:
    """Return the prompt of an open-ended question; ``instruction`` is its last line."""
    return text_prompt(question) + (f"\n{instruction}" if instruction else "")


def bare_prompt(question: Question) -> str:
    """Return the question as models read it that have no chat template."""
    return f"{question.hint} {question.question}" if question.hint else question.question


def answer_separator(rendered_prompt: str, special_tokens: Iterable[str] = ()) -> str:
    """Return what separates a rendered prompt from the answer.

    It is a space, unless the prompt ends in white space, or in a special token such as ``<|assistant|>``.
    """
    return "" if rendered_prompt[-1:].isspace() or rendered_prompt.endswith(tuple(special_tokens)) else " "
