"""The answer in a generated reply: yes or no, or the letter A or B."""

import re
from collections.abc import Sequence
from typing import Literal

from benchc.judges.option_reply import AFTER_LETTER, without_reasoning

Extraction = Literal["strict", "official"]
WORDS = {"yes_no": ("yes", "no"), "multiple_choice": ("A", "B")}  # of option 0 and of option 1

# "A dog": the article. "A is right", "A or B": the letter.
_ARTICLE = rf"(?![ \t]+(?!(?:{'|'.join(sorted(AFTER_LETTER))})\b)[a-z])"
_STRICT = {
    "yes_no": re.compile(r"\b(yes|no)\b", re.IGNORECASE),
    "multiple_choice": re.compile(rf"(?<![\w'’])(A{_ARTICLE}|B)(?![\w'’])"),
}
# Letters in any case, as in the paper's code.
_OFFICIAL = {
    "yes_no": _STRICT["yes_no"],
    "multiple_choice": re.compile(r"\b(a|b)\b", re.IGNORECASE),
}


def answer_of(
    reply: str, type_: str, extraction: Extraction = "strict", texts: Sequence[str] | None = None
) -> int | None:
    """Return the option that ``reply`` gives, 0 (yes, or A) or 1 (no, or B); None where it gives none.

    ``type_``: yes_no or multiple_choice. Of several answers, the first counts. ``strict`` takes yes and no as
    whole words in any case, and a capital A or B that stands alone; the article is no answer, and neither is
    anything within the tags of reasoning. ``official`` repeats the paper's code (extract_answer), in which
    the article "a" is the letter A. ``texts``: what the prompt calls the options of a multiple-choice
    question instead of A and B; they count as whole words in any case.
    """
    text: str | None = reply
    if extraction == "strict":
        text = without_reasoning(reply)
    if texts is not None and type_ != "yes_no":
        return _first_text(text or "", texts)
    found = (_STRICT if extraction == "strict" else _OFFICIAL)[type_].search(text or "")
    if found is None:
        return None
    return [word.casefold() for word in WORDS[type_]].index(found.group().casefold())


def _first_text(reply: str, texts: Sequence[str]) -> int | None:
    """Return the option whose text is first in ``reply``; of two that begin at one place, the longer one."""
    folded = " ".join(reply.casefold().split())
    places: list[tuple[int, int, int]] = []
    for option, text in enumerate(texts):
        plain = " ".join(text.casefold().split()).strip(" .")
        if plain and (found := re.search(rf"(?<!\w){re.escape(plain)}(?!\w)", folded)):
            places.append((found.start(), -len(plain), option))
    return min(places)[2] if places else None
