"""The text of an item from a row of a VLMEvalKit TSV: question, hint, options, answer, categories."""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeGuard

from benchc.json_content import is_text, json_content
from benchc.letters import LETTERS
from benchc.pluralize import pluralize
from benchc.sources.error import InvalidRowError, NoLetterError, PastLastOptionError

# The two answers of a question whose answer is a word or a letter in place of an option.
ANSWER_WORDS = (("Yes", "No"), ("A", "B"))

# str() of an absent value in pandas.
NAN = ("nan", "NaN")


AnswerForm = Literal["letter", "index", "text"]


class ItemText(NamedTuple):
    """An item without its images.

    ``answer`` is the 0-based index of the correct option; None for an open-ended question.
    """

    question: str
    hint: str | None
    options: list[str]
    answer: int | None
    category: str | None
    l2_category: str | None


def read_item_text(
    values: Mapping[str, str], options_column: str | None = None, answer_form: AnswerForm = "letter"
) -> ItemText:
    """Return the text of the item in a row, exactly as published.

    ``values`` maps columns to strings. Options are in columns A, B, ..., or in ``options_column`` as one
    Python list of strings like ``(A) red``. The answer is the letter of the right option, its 0-based index,
    or its text. A category of white space is none. Raises InvalidRowError where
    the question is missing, there are fewer than two options, an option is empty but a later one is not, the
    question or an option is only white space, or the answer is that of no option or of several.
    """
    question = _question(values)
    options = _options_of_list(values, options_column) if options_column else _options_of_columns(values)
    for letter, option in zip(LETTERS, options, strict=False):
        if option is not None and not option.strip():
            raise InvalidRowError(f"option {letter} is only white space")
    while options and options[-1] is None:
        options.pop()
    answer = _answer(values, options, answer_form)
    filled = [option for option in options if option is not None]
    if len(filled) < len(options):
        gap = LETTERS[options.index(None)]
        raise InvalidRowError(f"option {gap} is empty, but a later one is not")
    if len(filled) < 2:
        raise InvalidRowError(f"has fewer than two options ({len(filled)})")
    return ItemText(
        question,
        present(values.get("hint")),
        filled,
        answer,
        _category(values, "category"),
        _category(values, "l2_category"),
    )


def with_answer_words(values: Mapping[str, str]) -> dict[str, str]:
    """Return a row whose answer is Yes or No (in any case), or A or B, with these two words as its options.

    The letters are those of options in the question's text, which stays as published. Raises InvalidRowError
    where the answer is none of these.
    """
    answer = values.get("answer", "").strip()
    for words in ANSWER_WORDS:
        found = _place_of(answer, words)
        if found is not None:
            return {**values, **dict(zip(LETTERS, words, strict=False)), "answer": LETTERS[found]}
    raise InvalidRowError(f"the answer {answer[:20]!r} is none of Yes, No, A and B")


def _place_of(answer: str, words: Sequence[str]) -> int | None:
    # A small a is the article.
    known = [word.lower() if len(word) > 1 else word for word in words]
    given = answer.lower() if len(answer) > 1 else answer
    return known.index(given) if given in known else None


def read_open_text(values: Mapping[str, str], *, answer_lists: bool) -> ItemText:
    """Return the text of an open-ended question in a row, exactly as published.

    ``answer_lists``: as of :func:`read_open_answers`. Raises InvalidRowError as it does, and where the
    question is missing or only white space.
    """
    question = _question(values)
    read_open_answers(values, answer_lists=answer_lists)
    return ItemText(
        question,
        present(values.get("hint")),
        [],
        None,
        _category(values, "category"),
        _category(values, "l2_category"),
    )


def read_open_answers(values: Mapping[str, str], *, answer_lists: bool) -> tuple[str, list[str]]:
    """Return the reference answer of an open-ended question in a row, and all, if there are several.

    ``answer_lists``: they are the list in the column ``answers``, of annotators who may have said nothing; in
    a file without it, the list in ``answer``, whose first is the reference. Raises InvalidRowError where the
    answer is missing or white space, or there is no such list.
    """
    answer = (present(values.get("answer")) or "").strip()
    if not answer:
        raise InvalidRowError("has no answer")
    if not answer_lists:
        return answer, []
    if "answers" in values:
        return answer, read_answer_list(values["answers"])
    answers = [one.strip() for one in read_answer_list(answer)]
    if not all(answers):
        raise InvalidRowError("an answer in its list is only white space")
    return answers[0], answers if len(answers) > 1 else []


def read_answer_list(text: str) -> list[str]:
    """Return the answers in a list of texts, in JSON or, as VLMEvalKit has it, in Python.

    Raises InvalidRowError where it is no such list.
    """
    try:
        found = json_content(text)
    except ValueError:
        try:
            found = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            found = None
    if not are_texts(found):
        raise InvalidRowError(f'the answer {text[:20]!r} is no list of texts, such as ["one", "two"]')
    return found


def are_texts(value: object) -> TypeGuard[list[str]]:
    """Return whether a value is a list of one text or more."""
    return isinstance(value, list) and bool(value) and all(map(is_text, value))


def _question(values: Mapping[str, str]) -> str:
    question = present(values.get("question"))
    if question is None:
        raise InvalidRowError("has no question")
    if not question.strip():
        raise InvalidRowError("the question is only white space")
    return question


def present(text: str | None) -> str | None:
    """Return ``text``, or None where the value is absent."""
    return None if text is None or text == "" or text in NAN else text


def _category(values: Mapping[str, str], column: str) -> str | None:
    return present((values.get(column) or "").strip())


def _options_of_columns(values: Mapping[str, str]) -> list[str | None]:
    last = max((LETTERS.index(name) for name in values if len(name) == 1 and name in LETTERS), default=-1)
    return [present(values.get(letter)) for letter in LETTERS[: last + 1]]


def _options_of_list(values: Mapping[str, str], column: str) -> list[str | None]:
    text = values.get(column, "")
    try:
        texts = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        texts = None
    if not isinstance(texts, list) or not all(map(is_text, texts)):
        raise InvalidRowError(f"column {column!r} is not a Python list of strings")
    if len(texts) > len(LETTERS):
        raise InvalidRowError(f"has {len(texts)} options, more than the {len(LETTERS)} letters")
    options: list[str | None] = []
    for letter, option in zip(LETTERS, texts, strict=False):
        match = re.fullmatch(rf"\({letter}\) ?(.*)", option, re.DOTALL)
        if match is None:
            raise InvalidRowError(f"option {letter} in column {column!r} does not start with '({letter}) '")
        options.append(present(match[1]))
    return options


def _answer(values: Mapping[str, str], options: list[str | None], form: AnswerForm) -> int:
    answer = values.get("answer", "").strip()
    shown = f"the answer {answer[:20]!r}"
    if form == "text":
        places = [place for place, option in enumerate(options) if option and option.strip() == answer]
        if len(places) != 1:
            count = pluralize(len(places), "option") if places else "no option"
            raise InvalidRowError(f"{shown} is the text of {count}")
        return places[0]
    if form == "index":
        # Where another row has none, pandas writes 2 as 2.0.
        if re.fullmatch(r"[0-9]{1,2}(\.0)?", answer) is None:
            raise InvalidRowError(f"{shown} is not the index of an option, from 0")
        position = int(float(answer))
        if position >= len(options) or options[position] is None:
            past = PastLastOptionError if position == len(options) else InvalidRowError
            raise past(f"the answer is option {position} from 0, which has no text")
        return position
    if len(answer) != 1 or answer not in LETTERS:
        other = _form_of(answer, options)
        capital = other is None and len(answer) == 1 and answer.upper() in LETTERS
        mend = f": write {answer.upper()}" if capital else ""
        raise NoLetterError(f"{shown} is not one option letter{mend}", other)
    position = LETTERS.index(answer)
    if position >= len(options) or options[position] is None:
        raise InvalidRowError(f"the answer is {answer}, an option without text")
    return position


def _form_of(answer: str, options: list[str | None]) -> AnswerForm | None:
    """Return the form that an answer may have, which is no letter."""
    if any(option and option.strip() == answer for option in options):
        return "text"
    # Of a file that counts from 1, the last option has its number.
    is_index = re.fullmatch(r"[0-9]{1,2}(\.0)?", answer) and float(answer) <= len(options)
    return "index" if is_index else None
