"""The question of an item, and its prompts."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchc.errors import InputError
from benchc.letters import LETTERS


@dataclass(frozen=True)
class Question:
    """The text of an item. Option k has the letter ``LETTERS[k]``; an open-ended question has no options.

    ``prompt``: all that a model with a chat template is asked, where that is not made of the others.
    ``labels``: in that prompt, what the options are called; one each.
    """

    question: str
    options: tuple[str, ...]
    hint: str | None = None
    prompt: str | None = None
    labels: tuple[str, ...] = ()

    @property
    def letters(self) -> tuple[str, ...]:
        """The answers of which the first token is scored."""
        return self.labels or tuple(LETTERS[: len(self.options)])

    @property
    def texts(self) -> tuple[str, ...]:
        """The answers that are scored as texts."""
        return self.labels or self.options

    def __post_init__(self) -> None:
        if len(self.options) == 1 or len(self.options) > len(LETTERS):
            raise InputError(
                f"a question has no options or 2 to {len(LETTERS)}, but this one has {len(self.options)}: "
                f"{self.question[:80]!r}; remove the item"
            )


def in_words(letters: Sequence[str]) -> str:
    """Return the letters or labels of a question's options, for a message."""
    if letters[0] == LETTERS[0]:
        return f"letters {letters[0]} to {letters[-1]}"
    return f"answers {' and '.join(letters)}"


def end_of(prompt: str, most: int = 20) -> str:
    """Return the last words of a prompt for a message, about ``most`` characters, after an ellipsis."""
    if len(prompt) <= most:
        return prompt
    words = prompt[-most - 1 :]
    # From the first whole word on; a part of one word that is longer.
    start = re.search(r"\s+(?=\S)", words)
    return "…" + (words[start.end() :] if start else words[1:])


def letter_prompt(question: Question) -> str:
    """Return VLMEvalKit's default multiple-choice prompt, which asks for a letter."""
    if question.prompt is not None:
        return question.prompt
    hint = f"Hint: {question.hint}\n" if question.hint else ""
    options = "".join(f"{letter}. {text}\n" for letter, text in zip(LETTERS, question.options, strict=False))
    return (
        f"{hint}Question: {question.question}\nOptions:\n{options}"
        "Please select the correct answer from the options above. \n"
    )


def text_prompt(question: Question) -> str:
    """Return the prompt whose continuation is an option's text; it does not list the options."""
    if question.prompt is not None:
        return question.prompt
    hint = f"Hint: {question.hint}\n" if question.hint else ""
    return f"{hint}Question: {question.question}"


def open_prompt(question: Question, instruction: str = "") -> str:
    """Return the prompt of an open-ended question; ``instruction`` is its last line."""
    return text_prompt(question) + (f"\n{instruction}" if instruction else "")


def system_messages(system_prompt: str | None) -> list[dict[str, object]]:
    """Return what precedes the user's message: a message with the system prompt, if there is one."""
    if system_prompt is None:
        return []
    # Of parts, as a user's: templates that select parts by their type would lose a plain text.
    return [{"role": "system", "content": [{"type": "text", "text": system_prompt}]}]


def bare_prompt(question: Question) -> str:
    """Return the question as models read it that have no chat template."""
    return f"{question.hint} {question.question}" if question.hint else question.question


def answer_separator(rendered_prompt: str, special_tokens: Iterable[str] = ()) -> str:
    """Return what separates a rendered prompt from the answer.

    It is a space, unless the prompt ends in white space, or in a special token such as ``<|assistant|>``.
    """
    return "" if rendered_prompt[-1:].isspace() or rendered_prompt.endswith(tuple(special_tokens)) else " "
