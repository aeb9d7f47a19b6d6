"""What is worth a warning after a job: scores that choose nothing, and one answer to all items."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from benchc.models.items import Item

# Items to which the one answer is wrong, or whose right answers are not known. A model that sees the images,
# or guesses, has other answers to some of so many.
FEWEST = 20
FIX = "check its weights, chat template and prompt"


def constant_answers(
    rows: Sequence[Mapping[str, Any]], items: Mapping[str, Item], *, shown: bool = True
) -> str | None:
    """Return what is wrong where the rows of a job say nothing of its items; None where nothing is seen.

    Args:
        rows: of PREDICTIONS, ORDERS or ANSWERS.
        items: those that the rows are about.
        shown: whether the images were; without them, one answer to all may be the best.
    """
    if not rows:
        return None
    asked = [items[id_] for id_ in {row["id"] for row in rows}]
    if "reply" in rows[0]:
        replies = {row["reply"].strip().casefold() for row in rows}
        if replies == {""}:
            return f"all of its {len(rows):,} answers are empty; {FIX}"
        return _one_reply(rows[0]["reply"].strip(), asked) if shown and len(replies) == 1 else None
    if all(min(row["logits"]) == max(row["logits"]) for row in rows):
        return f"in each of its {len(rows):,} predictions, all options have the same score; {FIX}"
    chosen = {int(np.argmax(row["logits"])) for row in rows}
    wrong = sum(item.answer not in (None, *chosen) for item in asked)
    if len(chosen) > 1 or wrong < FEWEST or not shown or "order" in rows[0]:
        return None
    place = min(chosen) + 1
    return f"it chooses option {place} for all {len(asked):,} items, which is wrong for {wrong:,}; {FIX}"


def _one_reply(reply: str, asked: Collection[Item]) -> str | None:
    """Return what is wrong with one reply to all items; None where it may be right to all but few."""
    known = [(item.answer, item.question.options) for item in asked if item.answer is not None]
    # A reply is a letter or a text.
    most = max(
        _most(place for place, _ in known), _most(options[place].casefold() for place, options in known)
    )
    text = f"it answers {reply[:80]!r} to all {len(asked):,} items"
    if len(known) - most >= FEWEST:
        return f"{text}, whose right answers differ; {FIX}"
    if not known and len(asked) >= FEWEST:
        return f"{text}; {FIX}, unless that is right"
    return None


def _most(values: Iterable[Hashable]) -> int:
    """Return how often the most frequent value occurs."""
    return max(Counter(values).values(), default=0)
