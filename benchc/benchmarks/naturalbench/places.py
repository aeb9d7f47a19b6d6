"""Where each row of a source's TSV stands: its group, its question and its image."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from benchc.benchmarks.naturalbench.schemas.groups import MINED, RANDOM
from benchc.sources.error import SourceError
from benchc.sources.item_order import item_key
from benchc.sources.item_text import present
from benchc.sources.rows import read_header, read_rows

# Rows of a group, in order, in a file without a column of groups: that of VLMEvalKit.
ORDER = ((0, 0), (0, 1), (1, 0), (1, 1))
# A column has one of these names.
QUESTION, IMAGE = ("q_idx",), ("img_idx", "i_idx")

ENGLISH = "English"
METHODS = (MINED, RANDOM)
# Other spellings of the paper's subsets.
SUBSETS = {"flickr": "Flickr30K", "flickr30k": "Flickr30K", "docci": "DOCCI"}


class Source(NamedTuple):
    """A source of groups: its TSV, and its label, the subset of groups that have no other."""

    path: Path
    label: str


class Place(NamedTuple):
    """Where a row stands. ``problem``: why it cannot be part of a group; None where it can."""

    group: str
    q_idx: int
    i_idx: int
    subset: str
    type: str | None  # as the file has it, if it does
    language: str
    method: str
    problem: str | None = None


def read_places(source: Source) -> dict[str, Place]:
    """Return the place of each row of a TSV by its index.

    The columns group, q_idx and img_idx (or i_idx) tell it. A file without them has groups of four rows in
    the order of their indices, called 0, 1, ...: both images with question 0, then both with question 1. The
    subset is in the column l2-category or else source, the type in type or category. Raises SourceError where
    the file cannot be read, has only some of these columns, or a number of rows that is no multiple of four.
    """
    header = read_header(source.path)
    columns = [_column(header, names) for names in (("group",), QUESTION, IMAGE)]
    if any(columns) and not all(columns):
        missing = ("group", QUESTION[0], IMAGE[0])[columns.index(None)]
        raise SourceError(
            f"{source.path}: has some of the columns group, q_idx and img_idx, but no {missing}; add it, or "
            "remove the others from a file of four rows a group"
        )
    rows: dict[str, Mapping[str, str]] = {}
    kept = {"index", "l2_category", "source", "type", "category", "language", "method"}
    kept |= {name for name in columns if name}
    for row in read_rows(source.path):
        # The first row of an index is the item.
        index = row.values.get("index", "").strip()
        if index:
            rows.setdefault(index, {name: row.values[name] for name in kept & row.values.keys()})
    if all(columns):
        group, question, image = (str(name) for name in columns)
        return {
            index: _place(
                source.label, values, values.get(group, ""), values.get(question, ""), values.get(image, "")
            )
            for index, values in rows.items()
        }
    if len(rows) % len(ORDER):
        raise SourceError(
            f"{source.path}: has {len(rows):,} rows, which is no multiple of four, so that its groups are "
            "unknown; add the missing rows, or the columns group, q_idx and img_idx"
        )
    ordered = sorted(rows, key=lambda index: item_key(f"/{index}"))
    return {
        index: _place(source.label, rows[index], str(number // 4), *map(str, ORDER[number % 4]))
        for number, index in enumerate(ordered)
    }


def _column(header: list[str], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in header), None)


def _place(label: str, values: Mapping[str, str], group: str, question: str, image: str) -> Place:
    def text(column: str, default: str) -> str:
        return (present(values.get(column)) or "").strip() or default

    subset = text("l2_category", text("source", label))
    kind = text("type", text("category", ""))
    method = text("method", MINED)
    problem = None
    if not group.strip():
        problem = "has no group; name it"
    elif question.strip() not in ("0", "1") or image.strip() not in ("0", "1"):
        problem = f"has q_idx {question[:20]!r} and img_idx {image[:20]!r}; give 0 or 1"
    elif method not in METHODS:
        problem = f"has the method {method[:20]!r}; give {' or '.join(METHODS)}"
    return Place(
        group.strip(),
        int(question.strip() == "1"),
        int(image.strip() == "1"),
        SUBSETS.get(subset.lower(), subset),
        kind if kind in ("yes_no", "multiple_choice") else None,
        text("language", ENGLISH),
        method,
        problem,
    )
