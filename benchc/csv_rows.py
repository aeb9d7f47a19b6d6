"""Rows of a CSV file of another program, in whichever of a few encodings it has."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchc.errors import InputError

# How files of other formats begin.
_OTHER_FORMATS = {
    b"PAR1": "a Parquet file",
    b"PK\x03\x04": "an Excel workbook or a ZIP archive",
    b"\x1f\x8b": "a file compressed with gzip",
    b'{"': "a file of JSON",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}
# GB 18030 before Windows-1252, which reads nearly all bytes.
ENCODINGS = {"utf-8-sig": "UTF-8", "gb18030": "GB 18030", "cp1252": "Windows-1252"}


def read_rows(
    path: Path, columns: Sequence[str], encodings: Sequence[str] = tuple(ENCODINGS)
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number and the ``columns`` of each row, as texts without spaces around them.

    The header is row 1; blank lines are counted and left out. Raises InputError, with the row, where the file
    has another encoding, a column twice or not, or a row with fewer or more cells than the header, or a NUL
    character.
    """
    text = decoded(path, encodings)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        if missing := [name for name in columns if name not in header]:
            raise InputError(
                f"{path}: has no column {missing[0]!r} (it has {', '.join(header) or 'none'}); it needs "
                f"{', '.join(columns)}, separated by commas"
            )
        if doubled := [name for name in columns if header.count(name) > 1]:
            raise InputError(f"{path}: has two columns {doubled[0]!r}; remove one")
        places = {name: header.index(name) for name in columns}
        for number, cells in enumerate(reader, start=2):
            if not cells:
                continue
            fault = None
            if len(cells) < len(header):
                fault = "has fewer cells than the header; complete it"
            elif len(cells) > len(header):
                fault = "has more cells than the header; put a text with commas in quotes"
            elif any("\0" in cell for cell in cells):
                fault = "contains a NUL character; remove it"
            if fault is not None:
                raise InputError(f"{path}: row {number}: {fault}")
            yield number, {name: cells[place].strip() for name, place in places.items()}
    except csv.Error as error:
        raise InputError(
            f"{path}: cannot be read as CSV near line {reader.line_num} ({error}); correct the file"
        ) from error


def decoded(path: Path, encodings: Sequence[str] = tuple(ENCODINGS)) -> str:
    """Return the text of a file in the first of ``encodings``, keys of ENCODINGS, that can read it.

    Raises InputError, with the byte and its line, where none can, and for another format or an absent file.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); correct the path") from error
    for start, format_ in _OTHER_FORMATS.items():
        if data.startswith(start):
            raise InputError(f"{path}: is {format_}; save it as a CSV file in UTF-8")
    failures = []
    for encoding in encodings:
        try:
            return data.decode(encoding).removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            failures.append(error.start)
    place = failures[-1]
    known = " or ".join(ENCODINGS[encoding] for encoding in encodings)
    raise InputError(
        f"{path}: row {data[:place].count(10) + 1}: the byte 0x{data[place]:02x} is not of {known}; save the "
        "file as UTF-8"
    )
