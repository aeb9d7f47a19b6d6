"""What a wrong name may have meant, for the end of an error."""

import difflib
from collections.abc import Sequence


def suggestion(value: object, known: Sequence[str]) -> str:
    """Return the end of a sentence: the nearest of ``known`` to ``value``, or else all of them."""
    nearest = difflib.get_close_matches(str(value), known, n=1)
    if nearest:
        return f" (did you mean {nearest[0]}?)"
    return f"; there are {', '.join(known)}" if known else ""
