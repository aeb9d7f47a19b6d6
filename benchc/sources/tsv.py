"""Read a TSV as pandas writes it: quoted fields may contain tabs, newlines and megabytes of base64."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

from benchc.sources.error import SourceError

# The csv module's default is 128 KiB; a list of photographs in base64 has tens of MB.
LARGEST_FIELD = 2**31 - 1


class Row(NamedTuple):
    """One record: the line on which it ends, its strings by column, and what is wrong with it, or None."""

    line: int
    values: dict[str, str]
    problem: str | None


def read_header(path: Path) -> list[str]:
    """Return the column names of a TSV. Raises SourceError where there are none or one occurs twice."""
    with _open(path) as file:
        header = next(_records(file, path), (0, []))[1]
    if not header:
        raise SourceError(
            f"{path}: the file is empty; it needs a header line and rows of tab-separated fields"
        )
    for name in header:
        if header.count(name) > 1:
            raise SourceError(f"{path}: column {name!r} occurs twice in the header; rename one of them")
    return header


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the records of a TSV with every value as the string in the file, empty where it is absent.

    Raises SourceError where the file is not UTF-8 or a quoted field does not end.
    """
    header = read_header(path)
    with _open(path) as file:
        records = _records(file, path)
        next(records)
        for line, fields in records:
            problem = None
            if len(fields) != len(header):
                problem = f"has {len(fields)} fields where the header has {len(header)}"
            yield Row(line, dict(zip(header, fields, strict=False)), problem)


def _open(path: Path) -> TextIO:
    if not path.exists():
        raise SourceError(f"{path}: no such file")
    return path.open(encoding="utf-8-sig", newline="")


def _records(file: TextIO, path: Path) -> Iterator[tuple[int, list[str]]]:
    limit = csv.field_size_limit(LARGEST_FIELD)
    reader = csv.reader(file, delimiter="\t", strict=True)
    try:
        for fields in reader:
            if fields:  # a blank line is no record
                yield reader.line_num, fields
    except csv.Error as error:
        raise SourceError(
            f"{path}: line {reader.line_num} is not tab-separated text ({error}); the file is truncated, "
            "or fields with quotes, tabs or newlines are not in double quotes"
        ) from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: after line {reader.line_num} the file is not UTF-8 ({error})") from error
    finally:
        csv.field_size_limit(limit)
