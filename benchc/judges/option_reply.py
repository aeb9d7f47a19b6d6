"""Find the option that a free reply to a multiple-choice question chooses.

The rules follow VLMEvalKit's exact matching (``can_infer_option``, ``can_infer_text``), without its judge
model and without its random option as the last resort: a reply that names no option stays without one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from benchc.finish import Finish
from benchc.letters import LETTERS
from benchc.schemas.answer_states import Status

# Reasoning models write their reasoning between such tags, or only the second one.
_REASONING = re.compile(r"^.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OPEN_REASONING = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
# "The answer is (C)", "Answer: **C**", "Answer: option C", "\boxed{\text{C}}". White space is given back
# nowhere (*+): four parts that may match it would take hours for a reply that ends with it.
_STATED = re.compile(
    r"(?:(?i:answer|choice)\s*+(?i:is|would be|should be)?\s*+:?\s*+(?:(?i:option|choice|letter)\s*+)?"
    r"|\\boxed\s*\{\s*+(?:\\text\s*\{)?)[\s*_(\[$\"'`]*+([A-Z])(?![\w'’])"
)
# "C", "(C)", "C. a dog", "**C:** a dog", "Option C" at the beginning.
_FIRST = re.compile(r"^[\s*_(\[\"'`]*(?:(?i:option)\s+)?([A-Z])(?:[\s*_\"'`]*$|[*_\"'`]*[.):\]]|\n)")
# "C. a dog" at the beginning of a line: a reply may repeat the list of options.
_LISTED = re.compile(r"^(?:[^\S\n]|[*_(\[])*+([A-Z])[.):\]]", re.MULTILINE)
# Another letter after one: "A or B", "A/B", "A, C".
_ANOTHER = re.compile(r"[\s*_)\]\"'`]*(?:,|/|&|\bor\b|\band\b)\s*[*_(\[\"'`]*([A-Z])(?![\w'’])")
_REJECTED = re.compile(r"\b(?i:not)\s+(?:(?i:option|choice|letter)\s+)?[*_(\[\"'`]*[A-Z](?![\w'’])")
_PUNCTUATION = re.compile(r"[.()\[\],:;!*#{}\"'`$\\]")
_REFUSAL = re.compile(
    r"\b(?:sorry|unable to|do(?:n['’]t| not) know|not enough information|without the image"
    r"|none of the (?:above|options)"
    r"|(?:can ?not|can['’]t|could not) (?:be )?(?:answer|assist|determine|help|identif\w+|process|see))\b",
    re.IGNORECASE,
)
TAIL = 4  # words at the end in which a lone letter is an answer: VLMEvalKit's index > words - 5
# These capital letters are also English words, unless one of the others follows.
WORDS = frozenset("AI")
AFTER_LETTER = frozenset(("or", "and", "is"))


@dataclass(frozen=True)
class OptionReply:
    """The option that a reply chooses, and how it was found.

    ``option`` is its index, or None. ``status``: ``letter`` or ``text`` where the reply has an option's
    letter or text; ``refused`` where the model says that it cannot answer; ``ambiguous`` for several options;
    ``unfinished`` where the reply ends within the reasoning, also where that is not part of it;
    ``unparsable`` for all others.
    """

    option: int | None
    status: Status


def option_of(reply: str, options: Sequence[str], finish: Finish = "stop") -> OptionReply:
    """Return the option that ``reply`` chooses among ``options``, whose letters are A, B, ….

    ``finish``: how the reply ended. Raises ValueError for more options than letters.
    """
    if len(options) > len(LETTERS):
        raise ValueError(f"{len(options)} options have no letters: there are {len(LETTERS)}")
    text = without_reasoning(reply)
    if text is None or (not text and finish == "length"):
        return OptionReply(None, "unfinished")
    letters = LETTERS[: len(options)]
    if stated := [match for match in _STATED.finditer(text) if match[1] in letters]:
        # Of several, the last: reasoning may consider others first.
        return _stated(text, stated[-1], letters, options)
    if (first := _FIRST.match(text)) and first[1] in letters:
        if len({letter for letter in _LISTED.findall(text) if letter in letters}) > 1:
            return OptionReply(None, "ambiguous")
        return OptionReply(letters.index(first[1]), "letter")
    words = _PUNCTUATION.sub(" ", _REJECTED.sub(" ", text)).split()
    named = {
        word
        for word, after in zip_longest(words, words[1:], fillvalue="")
        if word in letters and (word not in WORDS or not after[:1].islower() or after in AFTER_LETTER)
    }
    found = _texts_in(text, options)
    if len(named) == 1 and named <= set(words[-TAIL:]):
        return OptionReply(letters.index(named.pop()), "letter")
    if len(found) == 1 and len(text) <= 2 * sum(map(len, options)):
        return OptionReply(found.pop(), "text")
    if _REFUSAL.search(text):
        return OptionReply(None, "refused")
    return OptionReply(None, "ambiguous" if len(named) > 1 or len(found) > 1 else "unparsable")


def without_reasoning(reply: str) -> str | None:
    """Return ``reply`` after its reasoning, without surrounding white space; None if it ends within that."""
    text, ended = _REASONING.subn("", reply)
    return None if not ended and _OPEN_REASONING.search(text) else text.strip()


def _stated(text: str, match: re.Match[str], letters: str, options: Sequence[str]) -> OptionReply:
    """Return the option of "the answer is X"."""
    another = _ANOTHER.match(text, match.end())
    if another and another[1] in letters and another[1] != match[1]:
        return OptionReply(None, "ambiguous")
    if match[1] in WORDS:
        # "The answer is A dog": the text of an option.
        rest = _folded(text[match.start(1) :])
        for index, option in enumerate(map(_folded, options)):
            if option.startswith(f"{match[1].lower()} ") and re.match(rf"{re.escape(option)}(?!\w)", rest):
                return OptionReply(index, "text")
    return OptionReply(letters.index(match[1]), "letter")


def _texts_in(reply: str, options: Sequence[str]) -> set[int]:
    """Return the options whose text is in the reply as whole words, but not those within a longer one's."""
    text = _folded(reply)
    spans = {
        index: {match.span() for match in re.finditer(rf"(?<!\w){re.escape(option)}(?!\w)", text)}
        for index, option in enumerate(map(_folded, options))
        if option
    }
    whole, last = set(), 0
    # A longer one that begins at the same place comes first.
    for start, end in sorted(set().union(*spans.values()), key=lambda span: (span[0], -span[1])):
        if end > last:
            whole.add((start, end))
            last = end
    return {index for index, places in spans.items() if places & whole}


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .")
