"""Rows of a CSV file of another program, in whichever of a few encodings it has."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchc.errors import InputError

# GB 18030 before Windows-1252, which reads nearly all bytes.
ENCODINGS = ("utf-8-sig", "gb18030", "cp1252")


def read_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number and the ``columns`` of each row, as texts; the header is row 1.

    Raises InputError, with the row, where the file has another encoding, a column twice or not, or a row with
    fewer or more cells than the header.
    """
    text = decoded(path)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        if missing := [name for name in columns if name not in (reader.fieldnames or ())]:
            raise InputError(
                f"{path}: has no column {missing[0]!r} (it has {', '.join(reader.fieldnames or ())}); it "
                f"needs {', '.join(columns)}, separated by commas"
            )
        if doubled := [name for name in columns if (reader.fieldnames or ()).count(name) > 1]:
            raise InputError(f"{path}: has two columns {doubled[0]!r}; remove one")
        for number, row in enumerate(reader, start=2):
            if any(row[name] is None for name in columns):
                raise InputError(f"{path}: row {number}: has fewer cells than the header; complete it")
            if reader.restkey in row:
                raise InputError(
                    f"{path}: row {number}: has more cells than the header; put a text with commas in quotes"
                )
            yield number, {name: row[name].strip() for name in columns}
    except csv.Error as error:
        raise InputError(
            f"{path}: cannot be read as CSV near line {reader.line_num} ({error}); correct the file"
        ) from error


def decoded(path: Path) -> str:
    """Return the text of a file in UTF-8, else in GB 18030, else in Windows-1252.

    Raises InputError, with the byte and its line, where it is in none of them, and for an absent file.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); correct the path") from error
    failures = []
    for encoding in ENCODINGS:
        try:
            return data.decode(encoding).removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            failures.append(error.start)
    place = failures[-1]
    raise InputError(
        f"{path}: row {data[:place].count(10) + 1}: the byte 0x{data[place]:02x} is neither of UTF-8, GB "
        "18030 nor Windows-1252; save the file as UTF-8"
    )
