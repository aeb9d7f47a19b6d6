"""Read large JSON files, plain or in a zip, one entry of a list at a time."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

import ijson

from benchc.sources.error import SourceError

COPY_AGAIN = "copy or download it again"

# Of a member that is damaged, or compressed by a method that Python lacks.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)


def read_list(path: Path, key: str) -> Iterator[dict[str, Any]]:
    """Yield the entries of the list ``key`` of the JSON mapping at ``path``, with one of them in memory.

    The file may also be a zip with one JSON file. Raises SourceError where it is truncated, is neither, or an
    entry is no mapping.
    """
    with _explained(path), _opened(path) as file:
        for number, entry in enumerate(ijson.items(file, f"{key}.item", use_float=True)):
            if not isinstance(entry, dict):
                raise SourceError(f"{path}: {key}[{number}] is no mapping; give a file as published")
            yield entry


def read_value(path: Path, key: str) -> object:
    """Return the value of ``key`` in the JSON mapping at ``path``; None where it has none.

    Nothing after it is read. Raises SourceError as :func:`read_list`.
    """
    with _explained(path), _opened(path) as file:
        return next(ijson.items(file, key), None)


@contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Yield the zip at ``path``. Raises SourceError where it is truncated."""
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise SourceError(f"{path}: is no complete zip ({error}); {COPY_AGAIN}") from error
    with archive:
        yield archive


def is_zip(path: Path) -> bool:
    """Return whether the file begins as a zip does; it may be truncated."""
    with path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if not path.is_file():
        raise SourceError(f"{path}: there is no such file; give a JSON file, or a zip with one")
    if not is_zip(path):
        with path.open("rb") as file:
            yield file
        return
    with opened_zip(path) as archive:
        # A zip made on macOS has a hidden file beside each.
        names = [PurePosixPath(name) for name in archive.namelist() if name.endswith(".json")]
        names = [name for name in names if not name.name.startswith(".")]
        if len(names) != 1:
            raise SourceError(f"{path}: contains {len(names)} JSON files; give a zip with one, or the file")
        with archive.open(str(names[0])) as member:
            yield member


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except ijson.JSONError as error:
        reason = str(error).partition("\n")[0]
        raise SourceError(f"{path}: is not complete JSON ({reason}); {COPY_AGAIN}") from error
    except ZIP_ERRORS as error:
        raise SourceError(f"{path}: cannot be unzipped ({error}); {COPY_AGAIN}") from error
