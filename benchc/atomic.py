"""Atomic writes of files and folders: complete, or not at all."""

import errno
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

# Before the random suffix of a temporary name, which alone may be a word of the user.
MARK = "0"
# Of writes; others may be of a file that the block reads.
OF_WRITES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Yield a file that replaces ``path`` when the block ends. An error leaves ``path`` unchanged.

    The bytes are on disk before the old file is replaced. A missing parent folder is created. Of several
    processes that write ``path``, the last one's file remains. A killed process leaves a hidden file beside
    ``path``, ``.{name}.0`` with a random suffix.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        _naming(path),
        tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.{MARK}", delete=False) as file,
    ):
        temporary = Path(file.name)
        try:
            yield file.file
            file.flush()
            os.fsync(file.fileno())
            _share(temporary)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def atomic_folder(path: str | Path) -> Iterator[Path]:
    """Yield an empty folder that replaces ``path`` when the block ends. An error leaves ``path`` unchanged.

    No portable system call swaps two folders, so the old one is moved away, the new one is moved to ``path``,
    and the old one is deleted. A process killed between the two moves leaves no ``path``, but both complete
    folders in a hidden sibling, ``.{name}.0`` with a random suffix.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        _naming(path),
        tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.{MARK}") as scratch,
    ):
        folder = Path(scratch) / path.name
        folder.mkdir()
        yield folder
        for file in folder.iterdir():
            if file.is_file():
                _share(file)
        old = Path(scratch) / f"{path.name}.old"
        exists = path.exists() or path.is_symlink()
        if exists:
            path.replace(old)
        try:
            folder.replace(path)
        except BaseException:
            if exists:
                old.replace(path)
            raise


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let errors of the file system name ``path``.

    A failed write names no file, and a folder that cannot be written the temporary one. Libraries in Rust
    give the number of an error as a text.
    """
    try:
        yield
    except Exception as error:
        found = re.search(r"\(os error (\d+)\)", str(error))
        if found and (number := int(found[1])) in OF_WRITES:
            raise OSError(number, os.strerror(number), str(path)) from error
        # An error of a library has a message in place of a number, which a file name would replace.
        if (
            isinstance(error, OSError)
            and error.errno is not None
            and (error.filename is None or f".{path.name}." in str(error.filename))
        ):
            error.filename = str(path)
        raise


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` to ``path`` atomically, as UTF-8."""
    with atomic_write(path) as file:
        file.write(text.encode())


def _share(path: Path) -> None:
    """Give a temporary file, which is private, the permissions that other new files have."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
