"""Questions about colours, and answers that name one (Figure A.4)."""

import re

from PIL import ImageColor

from benchc.judges.short_answer import normalised

_COLOUR = re.compile(r"\bcolou?r(s|ed)?\b", re.IGNORECASE)

# The colours of CSS that are no grey.
HUES = frozenset(name for name in ImageColor.colormap if len(set(ImageColor.getrgb(name))) > 1)


def asks_colour(question: str, truth: str) -> bool:
    """Return whether a question asks for a colour: it has the word, and its reference answer is in words.

    So "What is the bike's color?" does, but neither "Is the color bright?" nor "How many colors are there?".
    """
    answer = normalised(truth)
    return _COLOUR.search(question) is not None and answer not in ("yes", "no") and not answer.isdecimal()


def names_hue(reply: str) -> bool:
    """Return whether an answer has the name of a colour of CSS other than black, white and greys."""
    return not HUES.isdisjoint(normalised(reply).split())
