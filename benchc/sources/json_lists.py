"""Read large JSON files, plain or in a zip, one entry of a list at a time."""

import errno
import lzma
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

import ijson

from benchc.sources.error import SourceError

COPY_AGAIN = "copy or download it again"

# VQAv2's own files have 6 levels, and entries of 3 kB. ijson keeps the path of each level: 100,000 levels, in
# 200 kB, would take 25 GB.
DEEPEST = 100
LARGEST_ENTRY = 2**27  # bytes
# Of a number. Of one that Python does not read, such as of 4301 digits, ijson ends the process.
MOST_DIGITS = 1000
LONG_NUMBER = re.compile(rb"(?<![0-9])[0-9]{%d}" % MOST_DIGITS)
BRACKETS_AND_QUOTES = b'[]{}"'
OTHERS = bytes(set(range(256)) - {*BRACKETS_AND_QUOTES})

# Of a member that is damaged, needs a password, or is compressed by a method that Python lacks.
ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(OSError, EOFError, RuntimeError, OverflowError),
)


def read_list(path: Path, key: str) -> Iterator[dict[str, Any]]:
    """Yield the entries of the list ``key`` of the JSON mapping at ``path``, with one of them in memory.

    The file may also be a zip with one JSON file. Raises SourceError where it is truncated, is neither, or an
    entry is no mapping.
    """
    with _explained(path), _opened(path) as file:
        for number, entry in enumerate(ijson.items(file, f"{key}.item", use_float=True)):
            file.in_entry = 0
            if not isinstance(entry, dict):
                raise SourceError(f"{path}: {key}[{number}] is no mapping; give a file as published")
            yield entry


def read_value(path: Path, key: str) -> object:
    """Return the value of ``key`` in the JSON mapping at ``path``; None where it has none.

    Nothing after it is read. Raises SourceError as :func:`read_list`.
    """
    with _explained(path), _opened(path) as file:
        file.in_entry = -math.inf  # it may stand behind a list
        return next(ijson.items(file, key), None)


@contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Yield the zip at ``path``. Raises SourceError where it is truncated."""
    try:
        archive = zipfile.ZipFile(path)
    except (*ZIP_ERRORS, ValueError) as error:
        if is_of_disk(error):
            raise
        raise SourceError(f"{path}: is no complete zip ({error}); {COPY_AGAIN}") from error
    with archive:
        yield archive


def is_of_disk(error: Exception) -> bool:
    """Return whether one of ``ZIP_ERRORS`` is of the file system, and says nothing of the zip."""
    # The places that a damaged zip names cannot be sought.
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)


def is_zip(path: Path) -> bool:
    """Return whether the file begins as a zip does; it may be truncated."""
    with path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


class _Bounded:
    """The bytes of a JSON file with few levels. ``in_entry``: those that were read of the present entry."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.in_entry, self._depth = 0.0, 0
        self._path, self._file = path, file
        self._in_text, self._half, self._end = False, b"", b""

    def read(self, size: int) -> bytes:
        """Return the next bytes. Raises SourceError where they exceed the limits."""
        data = self._file.read(size)
        self.in_entry += len(data)
        if self.in_entry > LARGEST_ENTRY:
            raise SourceError(
                f"{self._path}: an entry has more than {LARGEST_ENTRY:,} bytes; give a file as published"
            )
        if LONG_NUMBER.search(whole := self._end + data):
            raise SourceError(
                f"{self._path}: has a number of {MOST_DIGITS:,} digits or more; give a file as published"
            )
        self._end = whole[-MOST_DIGITS:]
        text = re.sub(rb"\\.", b"", self._half + data, flags=re.DOTALL)
        self._half = b"\\" if text.endswith(b"\\") else b""
        texts = text.translate(None, OTHERS).split(b'"')
        brackets = b"".join(texts[self._in_text :: 2])
        for _ in range(4):  # for speed; so many levels more or less are no matter
            brackets = brackets.replace(b"{}", b"").replace(b"[]", b"")
        for bracket in brackets:
            self._depth += 1 if bracket in b"[{" else -1
            if self._depth > DEEPEST:
                raise SourceError(
                    f"{self._path}: has more than {DEEPEST} lists or mappings within each other; give a file "
                    "as published"
                )
        self._in_text ^= len(texts) % 2 == 0
        return data


@contextmanager
def _opened(path: Path) -> Iterator[_Bounded]:
    if not path.is_file():
        raise SourceError(f"{path}: there is no such file; give a JSON file, or a zip with one")
    if not is_zip(path):
        with path.open("rb") as file:
            yield _Bounded(path, file)
        return
    with opened_zip(path) as archive:
        # A zip made on macOS has a hidden file beside each.
        names = [PurePosixPath(name) for name in archive.namelist() if name.endswith(".json")]
        names = [name for name in names if not name.name.startswith(".")]
        if len(names) != 1:
            raise SourceError(f"{path}: contains {len(names)} JSON files; give a zip with one, or the file")
        with archive.open(str(names[0])) as member:
            yield _Bounded(path, member)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except ijson.JSONError as error:
        reason = str(error).partition("\n")[0]
        raise SourceError(f"{path}: is not complete JSON ({reason}); {COPY_AGAIN}") from error
    except ZIP_ERRORS as error:
        if is_of_disk(error):
            raise
        raise SourceError(f"{path}: cannot be unzipped ({error}); {COPY_AGAIN}") from error
