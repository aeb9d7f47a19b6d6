"""Check that installed fonts have the characters that figures show."""

import warnings
from collections.abc import Iterator

import polars as pl

from benchc.checking.finding import Finding
from benchc.checking.pool import PoolFound
from benchc.config.load import Config
from benchc.pluralize import pluralize


def check_fonts(config: Config, pool: PoolFound) -> Iterator[Finding]:
    """Yield which names and texts of figures have characters that no installed font has."""
    # Not at the top: matplotlib takes a second, and reads all fonts.
    from benchc.rendering.labels import WIDE_FAMILIES, renderable

    labels = [source.label for source in config.sources.values()]
    labels += [model.label for model in config.models.values()]
    texts: list[str] = []
    if not pool.texts.is_empty():
        labels += sorted(set(pool.texts["task"]))
        columns = pool.texts.select("question", pl.col("options").list.join(" ")).iter_rows()
        texts = [" ".join(row) for row in columns]
    install = f"install one of the fonts {', '.join(WIDE_FAMILIES[:3])}"
    found = False
    for what, names in (("name", list(dict.fromkeys(labels))), ("text", texts)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # which lists all names
            shown = renderable(names)
        changed = [name for name, text in zip(names, shown, strict=True) if " ".join(name.split()) != text]
        if changed:
            found = True
            example = f"{pluralize(len(changed), what)}, such as {changed[0][:40]!r}"
            text = f"no font has all characters of {example}, so that figures replace them; {install}"
            yield Finding("figures", "warning", "fonts", text)
    if not found:
        yield Finding("figures", "ok", "fonts", "installed fonts have all characters of names and texts")
