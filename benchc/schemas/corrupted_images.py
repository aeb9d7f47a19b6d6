"""The images of items, gathered by their keys from a file of corrupted ones."""

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import polars as pl

from benchc.errors import InputError
from benchc.images import ImageError, Pixels, decode
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.parquet import TableError, read_table

ITEMS_AT_ONCE = 16
# Rows that nobody asked for, read where they lie between two that are: a second read costs more.
ROWS_BETWEEN = 64


def images_of_items(
    path: Path, keys: Mapping[str, Sequence[str]], severities: Container[int] | None = None
) -> Iterator[tuple[str, dict[int, list[Pixels]]]]:
    """Yield each item's id and its images, uint8[H, W, 3] each, by severity, in the order of ``keys``.

    ``keys``: those of the images of each item by its id; ``severities``: which to read, None takes all that
    the file at ``path``, a CORRUPTED table, has. An image may lie anywhere in it; a few items' images are in
    memory. Raises InputError, before the first item, where the file lacks images of one, and where an image
    cannot be decoded; TableError as :func:`benchc.schemas.parquet.read_table` does.
    """
    rows = _rows(path, severities)
    lacking = [id_ for id_, of_item in keys.items() if not _complete(of_item, rows)]
    if lacking:
        raise InputError(
            f"{path}: has no images of {len(lacking)} items, the first is {lacking[0]}; "
            "delete the file and run snakemake again"
        )
    iterator = iter(keys.items())
    # Items that share an image stand side by side as a rule, and then it is decoded once.
    decoded: dict[str, dict[int, Pixels]] = {}
    while chunk := list(islice(iterator, ITEMS_AT_ONCE)):
        files = _files(
            path, sorted({row for _, of_item in chunk for key in of_item for row in rows[key].values()})
        )
        for id_, of_item in chunk:
            decoded = {
                key: decoded[key] if key in decoded else _decoded(path, key, rows[key], files)
                for key in of_item
            }
            yield (
                id_,
                {severity: [decoded[key][severity] for key in of_item] for severity in rows[of_item[0]]},
            )


def _rows(path: Path, severities: Container[int] | None) -> dict[str, dict[int, int]]:
    """Return the row numbers of every image by key and severity, in the file's order."""
    index = read_table(path, CORRUPTED, ["image_key", "severity"]).with_row_index("row")
    if severities is not None:
        index = index.filter([severity in severities for severity in index["severity"]])
    images = index.group_by("image_key", maintain_order=True).agg("severity", "row")
    return {key: dict(zip(levels, numbers, strict=True)) for key, levels, numbers in images.iter_rows()}


def _complete(keys: Sequence[str], rows: Mapping[str, Mapping[int, int]]) -> bool:
    return bool(keys) and all(key in rows and rows[key].keys() == rows[keys[0]].keys() for key in keys)


def _files(path: Path, numbers: Sequence[int]) -> dict[int, bytes]:
    """Return the image files in these rows, ascending, with one read for those that lie close together."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number - spans[-1][-1] <= ROWS_BETWEEN:
            spans[-1].append(number)
        else:
            spans.append([number])
    files: dict[int, bytes] = {}
    for span in spans:
        length = span[-1] - span[0] + 1
        try:
            images = pl.scan_parquet(path).slice(span[0], length).select("image").collect()["image"]
        except (pl.exceptions.PolarsError, OSError) as error:
            raise TableError(f"{path}: cannot be read ({error}); delete it and make it again") from error
        files |= {number: images[number - span[0]]["bytes"] for number in span}
    return files


def _decoded(path: Path, key: str, rows: Mapping[int, int], files: Mapping[int, bytes]) -> dict[int, Pixels]:
    try:
        return {severity: decode(files[row]) for severity, row in rows.items()}
    except ImageError as error:
        raise InputError(f"{path}: image {key}: {error}; delete the file and run snakemake again") from error
