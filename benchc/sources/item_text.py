"""The text of an item from a row of a VLMEvalKit TSV: question, hint, options, answer, categories."""

import ast
import re
from collections.abc import Mapping
from typing import NamedTuple

from benchc.letters import LETTERS
from benchc.sources.error import RowRefused

# What pandas writes for an absent value that went through str().
NAN = ("nan", "NaN")


class ItemText(NamedTuple):
    """Everything about an item but its images. ``answer`` is the 0-based index of the right option."""

    question: str
    hint: str | None
    options: list[str]
    answer: int
    category: str | None
    l2_category: str | None


def read_item_text(values: Mapping[str, str], options_column: str | None = None) -> ItemText:
    """Return the text of the item that a row holds, with its texts exactly as published.

    ``values`` maps columns to texts. Options stand in columns A, B, ..., or, where ``options_column`` is
    given, in that column as one Python list of texts such as ``(A) red``. Raises RowRefused where there is
    no question, there are fewer than two options, an empty option stands before a filled one, or the answer
    is not the letter of an option.
    """
    question = present(values.get("question"))
    if question is None:
        raise RowRefused("has no question")
    options = _options_of_list(values, options_column) if options_column else _options_of_columns(values)
    while options and options[-1] is None:
        options.pop()
    answer = _answer(values, options)
    filled = [option for option in options if option is not None]
    if len(filled) < len(options):
        gap = LETTERS[options.index(None)]
        raise RowRefused(f"option {gap} is empty, but a later one is not")
    if len(filled) < 2:
        raise RowRefused(f"has {len(filled)} options, and a choice needs two")
    return ItemText(
        question,
        present(values.get("hint")),
        filled,
        answer,
        present(values.get("category")),
        present(values.get("l2-category")) or present(values.get("l2_category")),
    )


def present(text: str | None) -> str | None:
    """Return ``text``, or None where it stands for an absent value."""
    return None if text is None or text == "" or text in NAN else text


def _options_of_columns(values: Mapping[str, str]) -> list[str | None]:
    last = max((LETTERS.index(name) for name in values if len(name) == 1 and name in LETTERS), default=-1)
    return [present(values.get(letter)) for letter in LETTERS[: last + 1]]


def _options_of_list(values: Mapping[str, str], column: str) -> list[str | None]:
    text = values.get(column, "")
    try:
        texts = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        texts = None
    if not isinstance(texts, list) or not all(isinstance(option, str) for option in texts):
        raise RowRefused(f"column {column!r} does not hold a Python list of texts")
    if len(texts) > len(LETTERS):
        raise RowRefused(f"has {len(texts)} options, and there are {len(LETTERS)} letters")
    options: list[str | None] = []
    for letter, option in zip(LETTERS, texts, strict=False):
        match = re.fullmatch(rf"\({letter}\) ?(.*)", option, re.DOTALL)
        if match is None:
            raise RowRefused(f"option {letter} in column {column!r} does not start with '({letter}) '")
        options.append(present(match[1]))
    return options


def _answer(values: Mapping[str, str], options: list[str | None]) -> int:
    answer = values.get("answer", "").strip()
    if len(answer) != 1 or answer not in LETTERS:
        raise RowRefused(f"the answer {answer[:20]!r} is not one option letter")
    position = LETTERS.index(answer)
    if position >= len(options) or options[position] is None:
        raise RowRefused(f"the answer is {answer}, an option without text")
    return position
