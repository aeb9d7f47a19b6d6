"""The option that a reply names by its letter, which needs no judge."""

import re
from collections.abc import Sequence

from benchc.benchmarks.r_bench.judging.comparisons import Comparison
from benchc.letters import LETTERS

_LETTER = re.compile(r"([A-Z])\s*[.):]?(?!\w)\s*(.*)", re.DOTALL)


def named_option(reply: str, options: Sequence[str]) -> str | None:
    """Return the letter of the option that a reply is, or None.

    Such a reply is one letter, alone or before a period, parenthesis or colon, and nothing else but that
    option's text. "A dog" names no option where the text of one is "A dog".
    """
    texts = [_folded(option) for option in options]
    found = _LETTER.fullmatch(reply.strip())
    if found is None or found[1] not in LETTERS[: len(options)]:
        return None
    index = LETTERS.index(found[1])
    others = [text for number, text in enumerate(texts) if number != index]
    if _folded(found[2]) not in ("", texts[index]) or _folded(reply) in others:
        return None
    return found[1]


def letter_score(comparison: Comparison) -> float | None:
    """Return whether two letters agree, 0 or 1; None where one of the two texts is no letter."""
    options = comparison.item.options
    reply, against = named_option(comparison.reply, options), named_option(comparison.against, options)
    return None if reply is None or against is None else float(reply == against)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .")
