"""The image files of a source on disk while it is read: each once, with its size and its pixels' hash."""

from concurrent.futures import Future
from hashlib import blake2b
from pathlib import Path
from tempfile import SpooledTemporaryFile
from threading import Lock
from types import TracebackType
from typing import NamedTuple

from benchc.sources.item_images import ImageFacts, image_facts

# Small sources are not written to disk.
IN_MEMORY = 2**26


class StoredFile(NamedTuple):
    """The number of an image file in the store, and its path in the source, if any."""

    number: int
    path: str | None


class StoredImages:
    """Image files by number, in a temporary file of a folder, by default that of the system."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = SpooledTemporaryFile(IN_MEMORY, dir=None if folder is None else str(folder))  # noqa: SIM115 (closed by __exit__)
        self._numbers: dict[bytes, int] = {}
        self._places: list[tuple[int, int]] = []
        self.facts: list[ImageFacts] = []
        self._known: dict[bytes, Future[ImageFacts]] = {}
        self._lock = Lock()

    def __enter__(self) -> "StoredImages":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    def check(self, data: bytes) -> bytes:
        """Decode an image file, once even if threads check it at the same time, and return its key.

        Raises ImageError where it is none.
        """
        key = blake2b(data, digest_size=16).digest()
        with self._lock:
            decodes = key not in self._known
            known = self._known.setdefault(key, Future())
        if decodes:
            try:
                known.set_result(image_facts(data))
            except BaseException as error:
                known.set_exception(error)
        known.result()
        return key

    def add(self, key: bytes, data: bytes) -> int:
        """Store an image file that was checked, unless it is there, and return its number."""
        if key not in self._numbers:
            self.facts.append(self._known[key].result())
            self._numbers[key] = len(self._places)
            self._places.append((self._file.seek(0, 2), len(data)))
            self._file.write(data)
        return self._numbers[key]

    def size(self, number: int) -> int:
        """Return the bytes of a file."""
        return self._places[number][1]

    def read(self, number: int) -> bytes:
        """Return a file."""
        start, size = self._places[number]
        self._file.seek(start)
        return self._file.read(size)
