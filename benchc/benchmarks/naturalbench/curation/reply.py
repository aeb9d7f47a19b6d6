"""Questions from the reply of a language model."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import NamedTuple, get_args

from benchc.benchmarks.naturalbench.kinds import QuestionType
from benchc.endpoint.language_model import UnusableError
from benchc.json_content import json_content

LONGEST = 2000  # characters of a question or an option
FENCED = re.compile(r"```(?:json)?[^\S\n]*\n(.*?)```", re.DOTALL | re.IGNORECASE)
YES_NO = re.compile(r"(?:yes|no)\b", re.IGNORECASE)
# A letter, and what follows it: A, (A), A: text, Option A) text.
LETTER = re.compile(r"(?:option\s+)?\(?([AB])(?:\)|$|\s*[.:])[.:]?\s*(.*)", re.IGNORECASE | re.DOTALL)
# A question that its options follow: ... Option: A: text; B: text. A letter inside a sentence is no option.
# Of white space, only the beginning is tried: all of its parts would take minutes for many line breaks.
WITH_OPTIONS = re.compile(
    r"(?P<question>.+?)(?:(?<=[^\w\s])|(?<!\s)(?=[^\S\n]*\n))\s*+\(?A\s*[).:]\s*(?P<A>\S.*?)"
    r"[\s;,]+\(?B\s*[).:]\s*(?P<B>\S.*?)[\s;]*",
    re.DOTALL,
)
BEFORE_OPTIONS = re.compile(r"[\s(]*(?:\boptions?\s*:)?[\s(]*$", re.IGNORECASE)


class Written(NamedTuple):
    """A question, and the texts of option 0 (Yes, or that of A) and option 1."""

    question: str
    answer_0: str
    answer_1: str


def read_reply(text: str, kind: QuestionType) -> tuple[Written | UnusableError, Written | UnusableError]:
    """Return the two questions of a reply, or why one is not usable.

    The reply is a JSON object, in a code fence or not, with the keys 0 and 1. Each value has a question and
    the answers for both captions, which are those that the template asks for: the answers to question 0 are
    Yes and No, or A and B, in this order, and to question 1 in the other. The options A and B are keys of
    their own, follow the question, or follow the letters of the answers. Case and punctuation of keys do not
    matter. Raises UnusableError where there is no such object.
    """
    found = json_object(text)
    missing = [key for key in ("0", "1") if key not in found]
    if missing:
        raise UnusableError(f"the reply has no question {missing[0]}")
    read = _READERS[kind]

    def question(number: int) -> Written | UnusableError:
        try:
            return read(_fields(found[str(number)]), number)
        except UnusableError as error:
            return UnusableError(f"question {number}: {error}")

    return question(0), question(1)


def json_object(text: str) -> dict[str, object]:
    """Return the JSON object of a reply, in a code fence or not; raises UnusableError where it is none."""
    fenced = FENCED.search(text)
    try:
        found = json_content(fenced[1] if fenced else text)
    except ValueError as error:
        raise UnusableError("the reply is not JSON") from error
    if not isinstance(found, dict):
        raise UnusableError("the reply is not a JSON object")
    return {str(key).strip(): value for key, value in found.items()}


def _fields(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise UnusableError("it is not a JSON object")
    fields = {re.sub(r"[\W_]", "", str(key)).casefold(): each for key, each in value.items()}
    if isinstance(options := fields.get("options"), dict):
        fields |= {f"option{str(key).strip().casefold()}": each for key, each in options.items()}
    return fields


def text_of(fields: Mapping[str, object], name: str, shown: str) -> str:
    """Return a field, a text; raises UnusableError, with the name ``shown``, where it is none."""
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise UnusableError(f"it has no {shown}")
    if any(unicodedata.category(letter) in ("Cc", "Cs") and not letter.isspace() for letter in value):
        raise UnusableError(f"its {shown} has characters that are no text")
    if len(value) > LONGEST:
        raise UnusableError(f"its {shown} has more than {LONGEST:,} characters")
    return value.strip()


def _answers(fields: Mapping[str, object]) -> tuple[str, str]:
    first, second = (
        text_of(fields, f"caption{number}answer", f"answer for caption {number}") for number in (1, 2)
    )
    return first, second


def _yes_no(fields: Mapping[str, object], number: int) -> Written:
    question = _line(text_of(fields, "question", "question"))
    words = [
        found.group().capitalize() if (found := YES_NO.match(answer)) else answer
        for answer in _answers(fields)
    ]
    _require(words, ["Yes", "No"], number)
    return Written(question, "Yes", "No")


def _multiple_choice(fields: Mapping[str, object], number: int) -> Written:
    question = text_of(fields, "question", "question")
    answers = _answers(fields)
    options: dict[str, str] = {}
    if "optiona" in fields or "optionb" in fields:
        options = {letter: text_of(fields, f"option{letter.lower()}", f"option {letter}") for letter in "AB"}
    elif found := WITH_OPTIONS.fullmatch(question):
        question = BEFORE_OPTIONS.sub("", found["question"])
        options = {letter: found[letter] for letter in "AB"}
    lettered = [LETTER.fullmatch(answer) for answer in answers]
    letters = [
        match[1].upper() if match else _letter_of(answer, options)
        for match, answer in zip(lettered, answers, strict=True)
    ]
    _require(letters, ["A", "B"], number)
    if not options:
        options = {letter: match[2] for letter, match in zip(letters, lettered, strict=True) if match}
    texts = [_line(options.get(letter, "")) for letter in "AB"]
    if not all(texts):
        raise UnusableError("its options A and B are not found")
    if texts[0].casefold() == texts[1].casefold():
        raise UnusableError("its options are equal")
    return Written(_line(question), *texts)


def _letter_of(answer: str, options: Mapping[str, str]) -> str:
    """Return the letter of the option that an answer repeats; the answer itself where there is none."""
    plain = {letter: _line(text).rstrip(".").casefold() for letter, text in options.items()}
    same = [letter for letter, text in plain.items() if text == _line(answer).rstrip(".").casefold()]
    return same[0] if len(same) == 1 else answer


def _require(found: list[str], wanted: list[str], number: int) -> None:
    if number:
        wanted = wanted[::-1]
    if found != wanted:
        shown = [_line(answer)[:40] for answer in found]
        raise UnusableError(
            f"its answers are {shown[0]!r} and {shown[1]!r}, not {wanted[0]!r} and {wanted[1]!r}"
        )


def _line(text: str) -> str:
    return " ".join(text.split())


_READERS: Mapping[QuestionType, Callable[[Mapping[str, object], int], Written]] = {
    "yes_no": _yes_no,
    "multiple_choice": _multiple_choice,
}
assert set(_READERS) == set(get_args(QuestionType))
