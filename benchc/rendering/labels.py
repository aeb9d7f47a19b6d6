"""Names from data as a figure can render them, without boxes for characters that no font has."""

import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import groupby

import matplotlib
from matplotlib import font_manager

from benchc.errors import InputError
from benchc.rendering.shorten import shorten

BASE_FAMILY = "DejaVu Sans"

# Families with Chinese, Japanese and Korean characters on Linux, macOS and Windows; installed ones are used.
WIDE_FAMILIES = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Droid Sans Fallback",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "SimHei",
    "Arial Unicode MS",
)


def font_families() -> list[str]:
    """Return the font families for names from data, in order of preference."""
    present = {entry.name for entry in font_manager.fontManager.ttflist}
    return [BASE_FAMILY, *(family for family in WIDE_FAMILIES if family in present)]


def renderable(names: Sequence[str]) -> list[str]:
    """Return ``names`` in the same order, each in characters that the fonts of :func:`font_families` have.

    Other characters are dropped if the rest has letters and is unique ("风景与建筑 (Scenery Building)" ->
    "Scenery Building"); otherwise they are written as code points ("文物" -> "[U+6587 U+7269]"). A warning
    lists every name that was changed.
    """
    plain = [" ".join(name.split()) for name in names]
    letters = _letters_of_all()
    if not set(map(ord, "".join(plain))) <= letters:
        _add_new_fonts()
        letters = _letters_of_all()
    short = [_without(name, letters) for name in plain]
    taken = Counter(short)
    shown = []
    for name, rest in zip(plain, short, strict=True):
        if all(ord(letter) in letters for letter in name):
            shown.append(name)
        elif taken[rest] == 1 and rest not in plain and any(character.isalpha() for character in rest):
            shown.append(rest)
        else:
            shown.append(_as_code_points(name, letters))
    changed = {name: text for name, text in zip(plain, shown, strict=True) if name != text}
    if changed:
        warnings.warn(
            "no installed font has every character of these names, so they are changed: "
            + "; ".join(f"{name} as {text}" for name, text in changed.items())
            + "; for Chinese, Japanese and Korean characters, install one of the fonts "
            + f"{', '.join(WIDE_FAMILIES[:6])}, delete the figure and make it again",
            stacklevel=2,
        )
    return shown


def spaced(name: str) -> str:
    """Return a name such as ``physical_property_reasoning`` with spaces for its underscores."""
    return name.replace("_", " ")


def shorten_all(names: Sequence[str], length: int) -> list[str]:
    """Return every name in at most ``length`` characters; those that would be the same are numbered."""
    short = [shorten(name, length) for name in names]
    taken, seen = Counter(short), Counter[str]()
    for place, name in enumerate(short):
        if taken[name] > 1:
            seen[name] += 1
            number = f" ({seen[name]})"
            short[place] = shorten(names[place], length - len(number)) + number
    return short


def isolated(name: str) -> str:
    """Return ``name`` for a sentence, whose order a name from right to left does not change."""
    turns = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in name)
    return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}" if turns else name


def width(name: str) -> float:
    """Return the approximate width of ``name`` in Latin letters; East Asian characters take about two."""
    return sum(1.8 if unicodedata.east_asian_width(letter) in "WF" else 1.0 for letter in name)


def _without(name: str, letters: set[int]) -> str:
    rest = "".join(letter if ord(letter) in letters else " " for letter in name)
    rest = " ".join(re.sub(r"\(\s*\)|\[\s*\]", " ", rest).split())
    if rest.startswith("(") and rest.endswith(")") and rest.count("(") == 1:
        rest = rest[1:-1].strip()
    return rest.strip(" -_/,;:·&")


def _as_code_points(name: str, letters: set[int]) -> str:
    def code_points(run: str) -> str:
        return f"[{' '.join(f'U+{ord(letter):04X}' for letter in run)}]"

    runs = groupby(name, key=lambda letter: ord(letter) in letters)
    return "".join("".join(run) if present else code_points("".join(run)) for present, run in runs)


def _letters_of_all() -> set[int]:
    return {letter for family in font_families() for letter in _letters(family)}


@lru_cache
def _add_new_fonts() -> None:
    """Add the fonts that were installed after matplotlib wrote its list of fonts, which it never updates."""
    known = {entry.fname for entry in font_manager.fontManager.ttflist}
    for path in sorted(set(font_manager.findSystemFonts()) - known):
        # A font that cannot be read is left out, as matplotlib does.
        with suppress(Exception):
            font_manager.fontManager.addfont(path)


@lru_cache
def _letters(family: str) -> frozenset[int]:
    try:
        path = font_manager.findfont(family, fallback_to_default=False)
    except ValueError as error:  # BASE_FAMILY, which matplotlib has; others are used where they are present
        raise InputError(
            f"{matplotlib.get_data_path()}: has no font {family}, with which figures are labelled; install "
            "matplotlib again"
        ) from error
    return frozenset(font_manager.get_font(path).get_charmap())
