"""Find the option that a free reply to a multiple-choice question chooses.

The rules follow VLMEvalKit's exact matching (``can_infer_option``, ``can_infer_text``), without its judge
model and without its random option as the last resort: a reply that names no option stays without one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from benchc.letters import LETTERS

Status = Literal["letter", "text", "refused", "ambiguous", "unparsable", "unfinished"]

# Reasoning models write their reasoning between such tags, or only the second one.
_REASONING = re.compile(r"^.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OPEN_REASONING = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
# "The answer is (C)", "Answer: **C**", "Option C", "\boxed{\text{C}}".
_STATED = re.compile(
    r"(?:(?i:answer|choice|option)\s*(?i:is|would be|should be)?\s*:?\s*"
    r"(?:(?i:option|choice|letter)\s*)?|\\boxed\s*\{\s*(?:\\text\s*\{)?)"
    r"[\s*_(\[$\"'`]*([A-Z])(?![\w'’])"
)
# "C", "(C)", "C. a dog", "**C:** a dog" at the beginning.
_FIRST = re.compile(r"^[\s*_(\[\"'`]*([A-Z])(?:[\s*_\"'`]*$|[*_\"'`]*[.):\],]|\n)")
_PUNCTUATION = re.compile(r"[.()\[\],:;!*#{}\"'`$\\]")
_REFUSAL = re.compile(
    r"\b(?:sorry|unable to|do(?:n['’]t| not) know|not enough information|without the image"
    r"|none of the (?:above|options)"
    r"|(?:can ?not|can['’]t|could not) (?:be )?(?:answer|assist|determine|help|identif\w+|process|see))\b",
    re.IGNORECASE,
)
TAIL = 5  # words at the end in which a lone letter is an answer
# These capital letters are also English words.
WORDS = frozenset("AI")


@dataclass(frozen=True)
class OptionReply:
    """The option that a reply chooses, and how it was found.

    ``option`` is its index, or None. ``status``: ``letter`` or ``text`` where the reply has an option's
    letter or text; ``refused`` where the model says that it cannot answer; ``ambiguous`` for several options;
    ``unfinished`` where the reply ends within the reasoning; ``unparsable`` for all others.
    """

    option: int | None
    status: Status


def option_of(reply: str, options: Sequence[str]) -> OptionReply:
    """Return the option that ``reply`` chooses among ``options``, whose letters are A, B, ….

    Raises ValueError for more options than letters.
    """
    if len(options) > len(LETTERS):
        raise ValueError(f"{len(options)} options have no letters: there are {len(LETTERS)}")
    text, ended = _REASONING.subn("", reply)
    if not ended and _OPEN_REASONING.search(text):
        return OptionReply(None, "unfinished")
    text = text.strip()
    letters = LETTERS[: len(options)]
    if stated := [letter for letter in _STATED.findall(text) if letter in letters]:
        # Of several, the last: reasoning may consider others first.
        return OptionReply(letters.index(stated[-1]), "letter")
    if (first := _FIRST.match(text)) and first[1] in letters:
        return OptionReply(letters.index(first[1]), "letter")
    words = _PUNCTUATION.sub(" ", text).split()
    named = {word for word in words if word in letters and (word not in WORDS or len(words) <= 3)}
    found = _texts_in(text, options)
    if len(named) == 1 and named <= set(words[-TAIL:]):
        return OptionReply(letters.index(named.pop()), "letter")
    if len(found) == 1 and len(text) <= 2 * sum(map(len, options)):
        return OptionReply(found.pop(), "text")
    if _REFUSAL.search(text):
        return OptionReply(None, "refused")
    return OptionReply(None, "ambiguous" if len(named) > 1 or len(found) > 1 else "unparsable")


def _texts_in(reply: str, options: Sequence[str]) -> set[int]:
    """Return the options whose text is in the reply as whole words, but not those within a longer one's."""
    text = _folded(reply)
    spans = {
        index: [match.span() for match in re.finditer(rf"(?<!\w){re.escape(option)}(?!\w)", text)]
        for index, option in enumerate(map(_folded, options))
        if option
    }
    return {
        index
        for index, places in spans.items()
        if any(
            not any(
                start <= place[0] and place[1] <= end and (start, end) != place
                for other in spans.values()
                for start, end in other
            )
            for place in places
        )
    }


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .")
