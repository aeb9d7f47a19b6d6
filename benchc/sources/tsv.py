"""Read a TSV as pandas writes it: quoted fields may contain tabs, newlines and megabytes of base64.

A file whose name ends in .xz is unpacked as it is read; one whose name ends in .csv has commas for tabs.
"""

import csv
import lzma
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TextIO

from benchc.sources.error import SourceError

# Characters of a row. The csv module allows 128 KiB a field; a list of photographs in base64 has tens of MB.
# A quotation mark without an end makes the rest of the file one field, which takes four bytes per character
# in memory, and a small xz file may have a row of any size.
LARGEST_ROW = 2**27

SHOWN = 40  # characters of a name, and names

# VLMEvalKit's files write a column both ways.
RENAMED = {"l2-category": "l2_category"}


# An image of a row: a text, or the bytes of a file and its path in the source, if any.
Picture = str | tuple[bytes, str | None]


class Row(NamedTuple):
    """One record: the line on which it ends, its strings by column, and what is wrong with it, or None.

    ``images``: its images; None where they are in its column ``image``.
    """

    line: int
    values: dict[str, str]
    problem: str | None
    images: Sequence[Picture] | None = None


def read_header(path: Path) -> list[str]:
    """Return the column names of a TSV, of which l2-category is called l2_category.

    Raises SourceError where there are none or one occurs twice.
    """
    with _open(path) as file:
        _, names = next(_records(file, path), (None, []))
    header = [RENAMED.get(name, name) for name in names]
    if not header:
        raise SourceError(
            f"{path}: the file is empty; it needs a header line and rows of {_separated(path)} fields"
        )
    if any("\0" in name for name in header):
        raise SourceError(f"{path}: the header contains NUL characters; save the file as text in UTF-8")
    [(name, count)] = Counter(header).most_common(1)
    if count > 1:
        raise SourceError(f"{path}: column {name[:SHOWN]!r} occurs twice in the header; rename one of them")
    return header


def listed(header: list[str]) -> str:
    """Return column names for a message of one line, in short where a file without a header has them."""
    names = [name if name.isprintable() else repr(name)[1:-1] for name in header]
    names = [name if len(name) <= SHOWN else f"{name[:SHOWN]}…" for name in names]
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


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
            elif any("\0" in field for field in fields):
                problem = "contains a NUL character"
            yield Row(line, dict(zip(header, fields, strict=False)), problem)


def _has_commas(path: Path) -> bool:
    return path.suffix.lower() == ".csv"


def _separated(path: Path) -> str:
    return f"{'comma' if _has_commas(path) else 'tab'}-separated"


def _open(path: Path) -> TextIO:
    if not path.exists():
        raise SourceError(f"{path}: no such file")
    if not path.is_file():
        raise SourceError(f"{path}: is a folder, a pipe or a device; give a file")
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


class _Lines:
    """The lines of a text, of which ``number`` were read, and ``in_row`` characters of the present row."""

    def __init__(self, file: TextIO) -> None:
        self.number = self.in_row = 0
        self._file = file

    def __iter__(self) -> Iterator[str]:
        for line in iter(lambda: self._file.readline(LARGEST_ROW + 1), ""):
            self.number += 1
            self.in_row += len(line)
            if self.in_row > LARGEST_ROW:
                raise csv.Error(f"a row of more than {LARGEST_ROW:,} characters")
            yield line


def _records(file: TextIO, path: Path) -> Iterator[tuple[int, list[str]]]:
    limit = csv.field_size_limit(LARGEST_ROW)
    delimiter = "," if _has_commas(path) else "\t"
    lines = _Lines(file)
    following = iter(lines)
    try:
        for line in following:
            record = line.rstrip("\r\n")
            if not record:  # a blank line is no record
                continue
            fields = _quoted(line, following, delimiter) if '"' in record else record.split(delimiter)
            yield lines.number, fields
            lines.in_row = 0
    except csv.Error as error:
        raise SourceError(
            f"{path}: line {lines.number} is not {_separated(path)} text ({error}); the file is "
            "truncated, or fields with quotes, separators or newlines are not in double quotes"
        ) from error
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{path}: {after(lines.number)}the file is not UTF-8 ({error}); save it as UTF-8"
        ) from error
    except (lzma.LZMAError, EOFError) as error:
        raise SourceError(
            f"{path}: {after(lines.number)}it is not a complete xz file ({error}); fetch it again"
        ) from error
    finally:
        csv.field_size_limit(limit)


def after(line: int) -> str:
    """Return the place of an error that was found after this line, for a message; "" for 0."""
    return f"after line {line} " if line else ""


def _quoted(line: str, following: Iterator[str], delimiter: str) -> list[str]:
    """Return the fields of the record that begins with ``line``. Raises csv.Error.

    Only the fields from the first to the last quotation mark are parsed character by character, which takes
    long for images.
    """
    start = line.rfind(delimiter, 0, line.index('"')) + 1
    rest = ""

    def pieces() -> Iterator[str]:
        nonlocal rest
        for text in chain([line[start:]], following):
            end = text.find(delimiter, text.rfind('"') + 1)
            rest = text[end:] if end >= 0 else ""
            yield text.removesuffix(rest)
            # The last mark opens a field.
            if rest:
                yield rest

    fields = next(csv.reader(pieces(), delimiter=delimiter, strict=True))
    return [*line[:start].split(delimiter)[:-1], *fields, *rest.rstrip("\r\n").split(delimiter)[1:]]
