"""Write files and folders whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Give a file to write that takes the place of ``path`` when the block ends, or leaves it as it was.

    The bytes are on the disk before the old file goes; a folder that is missing is made.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        temporary = Path(file.name)
        try:
            yield file.file
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    _share(temporary)
    temporary.replace(path)


@contextmanager
def whole_folder(path: str | Path) -> Iterator[Path]:
    """Give a folder to fill with files that takes the place of ``path`` when the block ends without error.

    An error at any point leaves ``path`` as it was. No system call swaps two folders everywhere, so the old
    one is moved aside, the new one into place, and then the old one is deleted: a process killed between the
    two moves leaves no ``path``, but both folders whole in a hidden one beside it, named ``.{name}.`` and a
    few random characters.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as scratch:
        folder = Path(scratch) / path.name
        folder.mkdir()
        yield folder
        for file in folder.iterdir():
            _share(file)
        old = Path(scratch) / f"{path.name}.old"
        there = path.exists() or path.is_symlink()
        if there:
            path.replace(old)
        try:
            folder.replace(path)
        except BaseException:
            if there:
                old.replace(path)
            raise


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` as UTF-8 to ``path``, or leave ``path`` as it was."""
    with atomic_write(path) as file:
        file.write(text.encode())


def _share(path: Path) -> None:
    """Give a temporary file the permissions of others: a cluster's group shares results."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
