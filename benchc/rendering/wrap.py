"""Wrap text from data to a given width and number of lines."""

import re
from collections.abc import Sequence

from benchc.letters import LETTERS
from benchc.rendering.labels import renderable, width

LETTER = 0.0085  # inches: mean width of a small letter of one point in DejaVu Sans

NO_BREAK = "\N{NO-BREAK SPACE}"


def option_text(options: Sequence[str], answer: int) -> str:
    """Return "A. red · B. blue ✓": the options with their letters and a mark at ``answer`` (0-based).

    :func:`wrap` does not break an option that fits on a line.
    """
    names = [renderable([option])[0] for option in options]
    texts = [
        f"{letter}. {name}{' ✓' if place == answer else ''}{' ·' if place < len(names) - 1 else ''}"
        for place, (letter, name) in enumerate(zip(LETTERS, names, strict=False))
    ]
    return " ".join(text.replace(" ", NO_BREAK) for text in texts)


def wrap(text: str, *, inches: float, points: float, lines: int) -> list[str]:
    """Return ``text`` in at most ``lines`` lines that are about ``inches`` wide at a size of ``points``.

    Lines break at white space, or at no-break spaces and inside words where these are longer than a line; a
    truncated text ends in an ellipsis. Widths are those of :func:`benchc.rendering.labels.width`.
    """
    room = max(2.0, inches / (LETTER * points))
    filled = [""]
    for word in re.split(f"[^\\S{NO_BREAK}]+", text):
        for part in [word] if width(word) <= room else word.split(NO_BREAK):
            for place, piece in enumerate(_pieces(part, room)):
                joint = " " if filled[-1] and place == 0 else ""
                if width(filled[-1] + joint + piece) <= room:
                    filled[-1] += joint + piece
                else:
                    filled.append(piece)
    if len(filled) > lines:
        last = filled[lines - 1]
        while last and width(last + "…") > room:
            last = last[:-1]
        filled = [*filled[: lines - 1], last.rstrip(f" ·{NO_BREAK}") + "…"]
    return [line.replace(NO_BREAK, " ") for line in filled if line]


def _pieces(word: str, room: float) -> list[str]:
    pieces = [""]
    for letter in word:
        if pieces[-1] and width(pieces[-1] + letter) > room:
            pieces.append("")
        pieces[-1] += letter
    return pieces
