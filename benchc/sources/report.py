"""The reports on reading a source: rows that did not become items, notes on others, and what all have."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from benchc.pluralize import pluralize
from benchc.sources.error import SourceError

Kind = Literal["rejected", "excluded", "note"]

REPEATED = "of an earlier image"

SCHEMA = pl.Schema({"id": pl.String, "line": pl.Int64, "kind": pl.String, "reason": pl.String})


class Remark(NamedTuple):
    """One row of the report.

    ``line`` is the line of the file on which the source's row ends; None where the file has no rows.
    """

    id: str
    line: int | None
    kind: Kind
    reason: str


def report_frame(remarks: Iterable[Remark]) -> pl.DataFrame:
    """Return the report as a frame with the columns id, line, kind and reason."""
    return pl.DataFrame(list(remarks), schema=SCHEMA, orient="row")


def counted(items: int, published: str | None, thing: str = "item") -> str:
    """Return the number of items, beside the published one, as text."""
    return pluralize(items, thing) + (f" (published: {published})" if published else "")


def summary(
    source: str, items: int, report: pl.DataFrame, thing: str = "item", published: str | None = None
) -> str:
    """Return the number of items, and of the report's rows by kind and reason, as lines of text.

    ``thing`` is what the items are called, ``published`` how many there are as published.
    """
    lines = [f"{source}: {counted(items, published, thing)}"]
    counts = Counter(zip(report["kind"], report["reason"], strict=True))
    lines += [f"  {count:,} {kind}: {reason}" for (kind, reason), count in counts.most_common()]
    return "\n".join(lines)


def facts_frame(texts: pl.DataFrame, images: pl.DataFrame, report: pl.DataFrame, rows: int) -> pl.DataFrame:
    """Return the summary of a source: the columns fact, name and count.

    ``texts``, ``images``, ``report`` and ``rows``: as of SourceItems. The facts are numbers of rows, in all
    and by the kind of reason; of items by options, by images, and by category; sizes of images in pixels; and
    of the images how many files differ, how many have pixels that no earlier one has, and how many have those
    of an earlier one.
    """
    kinds = Counter(report["kind"])
    facts: list[tuple[str, object, object]] = [
        ("rows", "read", rows),
        ("rows", "kept", texts.height),
        *(("rows", kind, kinds[kind]) for kind in ("rejected", "excluded")),
    ]
    for kind in ("rejected", "excluded", "note"):
        facts += [(kind, *each) for each in _by_kind(report.filter(kind=kind)["reason"], named=True)]
    facts += _counts("options", texts["options"].list.len())
    facts += _counts("images", texts["image_keys"].list.len())
    for column in ("category", "l2_category"):
        facts += _counts(column, texts[column].drop_nulls())
    pixels = images.with_columns(megapixels=pl.col("width") * pl.col("height") / 1e6)
    for column in ("width", "height", "megapixels"):
        values = pixels[column].to_numpy()
        found = {"min": values.min(), "median": np.median(values), "max": values.max()}
        facts += [(column, name, f"{float(value):g}") for name, value in found.items()]
    different = images["pixels"].n_unique()
    facts += [
        ("pixels", "different", different),
        ("pixels", REPEATED, images.height - different),
    ]
    return pl.DataFrame(
        [(fact, str(name), str(count)) for fact, name, count in facts],
        schema={"fact": pl.String, "name": pl.String, "count": pl.String},
        orient="row",
    )


def facts_text(facts: pl.DataFrame) -> str:
    """Return the facts about items and images as lines of text, for the log."""
    found: dict[str, dict[str, str]] = {}
    for fact, name, count in facts.iter_rows():
        found.setdefault(fact, {})[name] = count
    parts = [f"{count} with {name}" for name, count in found["options"].items()]
    lines = [f"  options of an item: {', '.join(parts)}"]
    sizes = (f"{found[side]['min']} to {found[side]['max']} pixels {side}" for side in ("width", "height"))
    lines.append(f"  images: {', '.join(sizes)}; {found['pixels'][REPEATED]} with the pixels {REPEATED}")
    return "\n".join(lines)


def check_rejected(path: Path, report: pl.DataFrame, rows: int, most: float, where: Path | None) -> None:
    """Raise SourceError where more than the share ``most`` of a source's rows are rejected.

    Rows that the options exclude do not count. ``path``: the data file. ``where``: the file with the report,
    if it is written.
    """
    rejected = report.filter(kind="rejected")
    asked = rows - report.filter(kind="excluded").height
    if rejected.height <= most * asked:
        return
    example, count = _by_kind(rejected["reason"])[0]
    listed = "" if where is None else f"; {where} lists them"
    raise SourceError(
        f"{path}: {rejected.height:,} of {pluralize(asked, 'row')} are rejected, {count:,} like this: "
        f"{example}{listed}; mend the file or the keys of reader, or raise max_rejected ({most:g})"
    )


def reason_kind(reason: str) -> str:
    """Return a reason with … for numbers and what it quotes, in which reasons of one kind differ."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d[\d,.]*", "…", reason)


def _by_kind(reasons: Iterable[str], *, named: bool = False) -> list[tuple[str, int]]:
    """Return the first reason of each kind, and how often it occurs, the most frequent first.

    ``named``: where reasons of a kind differ, the kind itself is returned.
    """
    examples: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for reason in reasons:
        kind = reason_kind(reason)
        counts[kind] += 1
        example = examples.setdefault(kind, reason)
        if named and example != reason:
            examples[kind] = kind
    return [(examples[kind], count) for kind, count in counts.most_common()]


def _counts(fact: str, values: pl.Series) -> list[tuple[str, object, object]]:
    return [(fact, name, count) for name, count in sorted(Counter(values).items())]
