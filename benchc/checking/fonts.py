"""Check that installed fonts have the characters that figures show."""

import unicodedata
import warnings
from collections.abc import Iterator

import polars as pl

from benchc.checking.finding import Finding
from benchc.checking.pool import PoolFound
from benchc.config.load import Config
from benchc.pluralize import pluralize

NAME_SHOWN = 40
CHARACTERS_SHOWN = 5
WIDE = ("CJK", "HANGUL", "HIRAGANA", "KATAKANA")  # how Unicode names the characters of these fonts


def check_fonts(config: Config, pool: PoolFound) -> Iterator[Finding]:
    """Yield which names and texts of figures have characters that no installed font has."""
    # Not at the top: matplotlib takes a second, and reads all fonts.
    from benchc.rendering.labels import BASE_FAMILY, WIDE_FAMILIES, renderable
    from benchc.rendering.shorten import shorten

    labels = [source.label for source in config.all_sources.values()]
    labels += [model.label for model in config.models.values()]
    texts: dict[str, str] = {}
    if not pool.texts.is_empty():
        labels += sorted(set(pool.texts["task"]))
        columns = pool.texts.select("id", pl.concat_str("question", pl.col("options").list.join(" ")))
        texts = dict(columns.iter_rows())
    found = False
    for what, by_name in (("name", {label: label for label in labels}), ("item", texts)):
        letters = sorted({letter for text in by_name.values() for letter in text if not letter.isspace()})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # which lists all names
            shown = renderable(letters)
        missing = {letter for letter, text in zip(letters, shown, strict=True) if letter != text}
        lacking = [name for name, text in by_name.items() if missing & set(text)]
        if lacking:
            found = True
            example = f"{pluralize(len(lacking), what)}, such as {shorten(lacking[0], NAME_SHOWN)}"
            more = ", …" if len(missing) > CHARACTERS_SHOWN else ""
            characters = ", ".join(
                f"{each} (U+{ord(each):04X})" for each in sorted(missing)[:CHARACTERS_SHOWN]
            )
            # Of other scripts, figures use no other font.
            mend = f"use characters of {BASE_FAMILY}"
            if any(unicodedata.name(letter, "").startswith(WIDE) for letter in missing):
                mend = f"install one of the fonts {', '.join(WIDE_FAMILIES[:3])}"
            text = f"no font has {characters}{more} of {example}, so that figures replace them; {mend}"
            yield Finding("figures", "warning", "fonts", text)
    if not found:
        yield Finding("figures", "ok", "fonts", "installed fonts have all characters of names and texts")
