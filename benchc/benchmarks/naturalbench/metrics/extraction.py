"""The answer in a generated reply: yes or no, or the letter A or B."""

import re
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


def answer_of(reply: str, type_: str, extraction: Extraction = "strict") -> int | None:
    """Return the option that ``reply`` gives, 0 (yes, or A) or 1 (no, or B); None where it gives none.

    ``type_``: yes_no or multiple_choice. Of several answers, the first counts. ``strict`` takes yes and no as
    whole words in any case, and a capital A or B that stands alone; the article is no answer, and neither is
    anything within the tags of reasoning. ``official`` repeats the paper's code (extract_answer), in which
    the article "a" is the letter A.
    """
    text: str | None = reply
    if extraction == "strict":
        text = without_reasoning(reply)
    found = (_STRICT if extraction == "strict" else _OFFICIAL)[type_].search(text or "")
    if found is None:
        return None
    return [word.casefold() for word in WORDS[type_]].index(found[1].casefold())
