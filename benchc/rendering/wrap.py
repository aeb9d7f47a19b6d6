"""Wrap text from data to a given width and number of lines."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser

from benchc.letters import LETTERS
from benchc.rendering.labels import renderable, width

LETTER = 0.0085  # inches: mean width of a small letter of one point in DejaVu Sans

NO_BREAK = "\N{NO-BREAK SPACE}"
SEPARATOR = " ·"  # between options

# As Pandoc reads dollar signs: the second one has no space before and no digit after, so that "costs $5 and
# $6" has no formula.
FORMULA = re.compile(r"\$([ -#%-~\xa0]*[!-#%-~])\$(?!\d)|\\\(([ -~\xa0]+?)\\\)")
# Stand for the dollar signs and spaces of a formula, so that others stay what they are.
OPEN, CLOSE, SPACE = "\ue000", "\ue001", "\ue002"
TEXT_SIZE = 10.0  # points, at which formulas are measured
# Of the size of text: from line to line, and the least gap between formulas.
LINE_SPACING, LEAST_GAP = 1.38, 0.25


class MathLine(str):
    """A line with formulas: matplotlib draws it with ``parse_math=True``."""


def option_text(options: Sequence[str], answer: int) -> str:
    """Return "A. red · B. blue ✓": the options with their letters and a mark at ``answer`` (0-based).

    :func:`wrap` does not break an option that fits on a line.
    """
    names = [renderable([option])[0] for option in options]
    texts = [
        f"{letter}. {name}{' ✓' if place == answer else ''}{SEPARATOR if place < len(names) - 1 else ''}"
        for place, (letter, name) in enumerate(zip(LETTERS, names, strict=False))
    ]
    return " ".join(text.replace(" ", NO_BREAK) for text in texts)


def wrap(text: str, *, inches: float, points: float, lines: int) -> list[str]:
    """Return ``text`` in at most ``lines`` lines that are about ``inches`` wide at a size of ``points``.

    Lines break at white space, or at no-break spaces and inside words where these are longer than a line,
    and do not begin or end in the separator of options; a truncated text ends in an ellipsis. LaTeX formulas
    that matplotlib can draw and that fit on a line stay whole; their line is a :class:`MathLine`. Widths are
    those of :func:`benchc.rendering.labels.width`.
    """
    room = max(2.0, inches / (LETTER * points))
    filled = [""]
    for word in re.split(f"[^\\S{NO_BREAK}]+", _marked(text, room)):
        for part in [word] if _width(word) <= room else word.split(NO_BREAK):
            for place, piece in enumerate(_pieces(part, room)):
                joint = " " if filled[-1] and place == 0 else ""
                if _width(filled[-1] + joint + piece) <= room:
                    filled[-1] += joint + piece
                else:
                    filled.append(piece)
    if len(filled) > lines:
        last = filled[lines - 1]
        while last and _width(last + "…") > room:
            last = last[: last.rindex(OPEN)] if last.endswith(CLOSE) else last[:-1]
        filled = [*filled[: lines - 1], last.rstrip(f" ·{NO_BREAK}") + "…"]
    return [_shown(line) for line in filled if line.strip(SEPARATOR)]


def line_height(line: str) -> float:
    """Return the height of a line in lines without formulas, at least 1: a fraction is higher."""
    return _math_height(line) if isinstance(line, MathLine) else 1.0


def _pieces(word: str, room: float) -> list[str]:
    pieces = [""]
    for letter in re.findall(f"{OPEN}.*?{CLOSE}|.", word):
        if pieces[-1] and _width(pieces[-1] + letter) > room:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def _marked(text: str, room: float) -> str:
    """Return the text, with marks for the dollar signs and spaces of its formulas."""

    def marked(match: re.Match[str]) -> str:
        formula = re.sub(f"[\\s{NO_BREAK}]+", SPACE, (match[1] or match[2]).strip())
        return f"{OPEN}{formula}{CLOSE}" if _formula_width(formula) <= room else match[0]

    return FORMULA.sub(marked, text)


def _width(text: str) -> float:
    """Return the width in letters of a text with marked formulas."""
    rest = re.sub(f"{OPEN}.*?{CLOSE}", "", text)
    return width(rest) + sum(map(_formula_width, re.findall(f"{OPEN}(.*?){CLOSE}", text)))


@cache
def _formula_width(formula: str) -> float:
    """Return the width in letters of a formula; infinite where matplotlib cannot draw it."""
    try:
        parsed = _parsed(f"${formula.replace(SPACE, ' ')}$")
    except ValueError:
        return float("inf")
    return float(parsed.width) / (72 * LETTER * TEXT_SIZE)


@cache
def _math_height(line: str) -> float:
    parsed = _parsed(line)
    return max(1.0, (float(parsed.height + parsed.depth) / TEXT_SIZE + LEAST_GAP) / LINE_SPACING)


def _parsed(text: str) -> Any:
    return MathTextParser("path").parse(text, 72, FontProperties(size=TEXT_SIZE))


def _shown(line: str) -> str:
    text = line.replace(NO_BREAK, " ").removesuffix(SEPARATOR).removeprefix(f"{SEPARATOR.strip()} ")
    if OPEN not in text:
        return text
    return MathLine(text.replace("$", r"\$").replace(OPEN, "$").replace(CLOSE, "$").replace(SPACE, " "))
