"""Cache predictions and answers between jobs and runs: a job computes only what is new, also after a kill.

The cache has one folder per identity. In it every job appends to a shard of its own, one line per unit, and
reads the shards of all others. A line ends in its checksum. The index is a temporary database of the job that
reads (10 seconds for a million units). So no file has two writers; no reader needs a lock, which shared file
systems do not provide reliably; no index can be out of date; and a killed job leaves at most one incomplete
line, which is ignored. Deleting a folder costs time but changes no result.
"""

import base64
import contextlib
import hashlib
import json
import os
import secrets
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Generic, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from benchc.atomic import write_text
from benchc.errors import InputError
from benchc.models.protocol import OptionScores, Reply

IDENTITY_FILE = "identity.json"
# Another format of a line takes another suffix, so that each ignores the other's files.
SUFFIX = ".units"
# Shards that another identity's jobs wrote are in adopted/<code of that identity>/.
ADOPTED = "adopted"

INDEX_KIB = 16 * 1024  # memory of the index; what exceeds it is on disk


Value = TypeVar("Value")


class CachedUnit(NamedTuple, Generic[Value]):
    """What a model returned for a unit, one prompt under V variants of its images."""

    value: Value
    split: bool  # the unit was split to fit into the device's memory
    adopted: str | None = None  # the code that computed it, where that is not the identity's own


class ShardIndex:
    """The units in the shards of one identity, as they were when the index was made.

    Memory does not depend on their number. Raises InputError where the temporary folder is full.
    """

    def __init__(self, folder: Path) -> None:
        self._shards: list[Path] = []
        self._open: tuple[int, IO[bytes]] | None = None  # the last shard that was read
        # An empty name is a temporary file of this process, which a killed job does not leave behind.
        # Threads that share a predictor use it one at a time.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute(f"PRAGMA cache_size = -{INDEX_KIB}")
        self._database.execute("CREATE TABLE units (key PRIMARY KEY, shard, start) WITHOUT ROWID")
        for path in shards_of(folder):
            self.add(path, lines_of(path))

    def add(self, path: Path, lines: Iterator[tuple[bytes, int]]) -> None:
        """Add lines of a shard, as key and start of each."""
        if not self._shards or self._shards[-1] != path:
            self._shards.append(path)
        shard = len(self._shards) - 1
        rows = ((key, shard, start) for key, start in lines)
        try:
            self._database.execute("BEGIN")
            self._database.executemany("INSERT OR REPLACE INTO units VALUES (?, ?, ?)", rows)
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            raise InputError(
                f"the index of the prediction cache cannot be written to the temporary folder ({error}); "
                "free space there, or name another folder in the environment variable SQLITE_TMPDIR"
            ) from error

    def find(self, key: bytes) -> CachedUnit[list[bytes]] | None:
        """Return a unit, its value as fields; None where it is absent, or was edited or deleted since."""
        row = self._database.execute("SELECT shard, start FROM units WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        shard, start = row
        path = self._shards[shard]
        try:
            if self._open is None or self._open[0] != shard:
                self._close_shard()
                self._open = shard, path.open("rb")
            file = self._open[1]
            file.seek(start)
            text = checked(file.readline())
        except OSError:
            return None
        if text is None or not text.startswith(key):
            return None
        _, split, *fields = text.split(b" ")
        return CachedUnit(fields, split == b"1", adopted_from(path))

    def key_numbers(self) -> npt.NDArray[np.uint64]:
        """Return :func:`key_number` of every unit, in ascending order."""
        keys = self._database.execute("SELECT key FROM units")
        return np.sort(np.fromiter((key_number(key) for (key,) in keys), np.uint64))

    def close(self) -> None:
        self._close_shard()
        self._database.close()

    def _close_shard(self) -> None:
        if self._open is not None:
            self._open[1].close()


class UnitCache(ABC, Generic[Value]):
    """What the models of one identity return, by prompt and pixels.

    Args:
        root: folder of the cache, which runs share.
        identity: all else that decides it (:mod:`benchc.models.identity`).
        shard: the beginning of the name of this job's shard, for people who look at the folder.

    Raises InputError where the cache cannot be written.
    """

    def __init__(self, root: str | Path, identity: Mapping[str, str], shard: str) -> None:
        self.folder = identity_folder(Path(root), identity)
        self._identity = identity
        self._name = shard
        self._file: IO[bytes] | None = None
        with writing(self.folder):
            write_identity(self.folder, identity)
        self._index = ShardIndex(self.folder)

    @staticmethod
    @abstractmethod
    def encoded(value: Value) -> list[bytes]:
        """Return a value as fields of a line, without spaces and line breaks."""

    @staticmethod
    @abstractmethod
    def decoded(fields: Sequence[bytes]) -> Value:
        """Return the value of such fields."""

    def get(self, prompt_hash: str, image_hashes: Sequence[str]) -> CachedUnit[Value] | None:
        """Return what is cached of a unit, one prompt and V variants in order, or None."""
        found = self._index.find(unit_key(prompt_hash, image_hashes))
        return None if found is None else CachedUnit(self.decoded(found.value), *found[1:])

    def key_numbers(self) -> npt.NDArray[np.uint64]:
        """Return :func:`key_number` of every unit that is cached now, in ascending order."""
        return self._index.key_numbers()

    def put(self, prompt_hash: str, image_hashes: Sequence[str], value: Value, split: bool) -> None:
        """Store the value of a unit; it survives a kill right after this call."""
        key = unit_key(prompt_hash, image_hashes)
        with writing(self.folder):
            if self._file is None:
                self._file = self._new_shard()
            start = self._file.tell()
            self._file.write(line_of(key, self.encoded(value), split))
            self._file.flush()
        self._index.add(Path(self._file.name), iter([(key, start)]))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._index.close()
        if self._file is not None:
            with writing(self.folder), self._file:
                os.fsync(self._file.fileno())

    def _new_shard(self) -> IO[bytes]:
        # At the first unit, since most jobs of a rerun write none; the folder may have been pruned meanwhile.
        write_identity(self.folder, self._identity)
        # The suffix makes the name unique among jobs of one name, in two runs or after a kill.
        return (self.folder / f"{self._name}-{secrets.token_hex(4)}{SUFFIX}").open("xb")


class PredictionCache(UnitCache[OptionScores]):
    """The option scores of one identity; a line has V, logits and label mass."""

    @staticmethod
    def encoded(value: OptionScores) -> list[bytes]:
        return [b"%d" % len(value.logits), *map(_base64, value)]

    @staticmethod
    def decoded(fields: Sequence[bytes]) -> OptionScores:
        variants, logits, mass = fields
        return OptionScores(_floats(logits).reshape(int(variants), -1), _floats(mass))


class AnswerCache(UnitCache[list[Reply]]):
    """The generated answers of one identity; a line has them as JSON in base64."""

    @staticmethod
    def encoded(value: list[Reply]) -> list[bytes]:
        return [base64.b64encode(json.dumps(value).encode())]

    @staticmethod
    def decoded(fields: Sequence[bytes]) -> list[Reply]:
        (text,) = fields
        return [Reply(*reply) for reply in json.loads(base64.b64decode(text))]


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Raise InputError where the block cannot write to ``folder`` of the cache."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{folder}: the prediction cache cannot be written ({error.strerror}); free space or correct the "
            "permissions there, or give another folder as --cache"
        ) from error


def identity_folder(root: Path, identity: Mapping[str, str]) -> Path:
    """Return the folder of an identity; the order of its facts does not matter."""
    scope = hashlib.blake2b(_canonical(identity).encode(), digest_size=8).hexdigest()
    return model_folder(root, identity["model"]) / scope


def model_folder(root: Path, model: str) -> Path:
    """Return the folder of all identities of a model, by the name in footers, an id or a folder."""
    return root / model.replace("/", "--")


def write_identity(folder: Path, identity: Mapping[str, str]) -> None:
    """Write the identity into its folder; the file's time of modification is that of the last use."""
    path = folder / IDENTITY_FILE
    try:
        os.utime(path)
    except FileNotFoundError:
        write_text(path, _canonical(identity) + "\n")
    except PermissionError:
        pass  # another user's file; only `benchc cache` shows the time


def shards_of(folder: Path) -> list[Path]:
    """Return the shards of an identity's folder: adopted ones first, which its own ones override."""
    return [*sorted(folder.glob(f"{ADOPTED}/*/*{SUFFIX}")), *sorted(folder.glob(f"*{SUFFIX}"))]


def adopted_from(shard: Path) -> str | None:
    """Return the code whose jobs wrote an adopted shard; None for an identity's own."""
    return shard.parent.name if shard.parent.parent.name == ADOPTED else None


def lines_of(path: Path) -> Iterator[tuple[bytes, int]]:
    """Yield key and start of every complete line of a shard; none where the shard was deleted."""
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        start = 0
        for line in file:
            text = checked(line)
            if text is not None:
                yield text.partition(b" ")[0], start
            start += len(line)


def unit_key(prompt_hash: str, image_hashes: Sequence[str]) -> bytes:
    """Return the key of a unit's prompt and of the pixels of its variants in order, 32 hexadecimal digits."""
    text = "\x1f".join((prompt_hash, *image_hashes))
    return _hexdigest(text.encode(), 16)


def key_number(key: bytes) -> int:
    """Return the first 64 bits of a key."""
    return int(key[:16], 16)


def line_of(key: bytes, fields: Sequence[bytes], split: bool) -> bytes:
    """Return a unit as a line: key, split, the fields of its value, checksum."""
    text = b" ".join([key, b"%d" % split, *fields])
    return text + b" " + _hexdigest(text, 8) + b"\n"


def checked(line: bytes) -> bytes | None:
    """Return a line without its checksum; None where it is incomplete or was edited."""
    text, _, checksum = line.rpartition(b" ")
    return text if text and checksum == _hexdigest(text, 8) + b"\n" else None


def _base64(values: npt.NDArray[np.float32]) -> bytes:
    return base64.b64encode(np.asarray(values, dtype="<f4").tobytes())


def _floats(field: bytes) -> npt.NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(field), dtype="<f4").astype(np.float32)


def _canonical(identity: Mapping[str, str]) -> str:
    return json.dumps(dict(identity), sort_keys=True, ensure_ascii=False, indent=1)


def _hexdigest(data: bytes, size: int) -> bytes:
    return hashlib.blake2b(data, digest_size=size).hexdigest().encode()
