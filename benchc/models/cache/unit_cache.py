"""Cache predictions and answers between jobs and runs: a job computes only what is new, also after a kill.

The cache has one folder per identity. In it every job appends to a shard of its own, one line per unit,
which ends in its checksum. It finds units in the shards of all others by the index beside each, 16 bytes for
a unit: where its line starts. A job writes the index of its shard at its end, or a later reader does if it
was killed. An index holds for one size and end of its shard; where it does not, the lines are read. So no
shard has two writers; no reader needs a lock, which shared file systems do not provide reliably; no index is
used that is out of date; and a killed job leaves at most one incomplete line, which is ignored. Only a line
whose key and checksum are right is returned, whatever an index says. Deleting any file costs time but changes
no result.
"""

import base64
import contextlib
import hashlib
import json
import os
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Generic, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from benchc.atomic import atomic_write, write_text
from benchc.errors import InputError
from benchc.models.protocol import OptionScores, Reply

IDENTITY_FILE = "identity.json"
# Another format of a line takes another suffix, so that each ignores the other's files.
SUFFIX = ".units"
# Shards that another identity's jobs wrote are in adopted/<code of that identity>/.
ADOPTED = "adopted"

# A shard's index: a digest, then uint64[2, N], the key numbers in ascending order and the starts of lines.
INDEX_SUFFIX = ".index"
DIGEST_BYTES = 16
END_BYTES = 64  # of a shard, which its index is for; they include the checksum of the last line
# Until then a job may be writing to a shard, and an index would soon be out of date.
QUIET_SECONDS = 600
INSERTED = 65_536  # new units that are inserted at once

Numbers = npt.NDArray[np.uint64]
PAIR = np.dtype(("<u8", 2))

Value = TypeVar("Value")


class CachedUnit(NamedTuple, Generic[Value]):
    """What a model returned for a unit, one prompt under V variants of its images."""

    value: Value
    split: bool  # the unit was split to fit into the device's memory
    adopted: str | None = None  # the code that computed it, where that is not the identity's own


class ShardIndex:
    """The units in the shards of one identity, as they were when this was made; 20 bytes of memory each."""

    def __init__(self, folder: Path) -> None:
        self._shards = shards_of(folder)
        self._open: tuple[int, IO[bytes]] | None = None  # the last shard that was read
        self._new: dict[int, int] = {}  # number and start of units that were added to the last shard
        # By number in ascending order; of equal ones, the last shard's is last.
        self._numbers = self._starts = np.empty(0, np.uint64)
        self._places = np.empty(0, np.uint32)  # the shard of each
        self._insert([units_of_shard(path) for path in self._shards], 0)

    def add(self, path: Path, key: bytes, start: int) -> None:
        """Add a unit of a shard; of all that are added, the shard is the same."""
        if not self._shards or self._shards[-1] != path:
            self._shards.append(path)
        self._new[key_number(key)] = start
        if len(self._new) == INSERTED:
            self._insert_new()

    def find(self, key: bytes) -> CachedUnit[list[bytes]] | None:
        """Return a unit, its value as fields; None where it is absent, or was edited or deleted since."""
        number = key_number(key)
        if number in self._new:
            found = self._read(len(self._shards) - 1, self._new[number], key)
            if found is not None:
                return found
        # As an integer of Python, the number would have all of them compared as float64.
        place = int(np.searchsorted(self._numbers, np.uint64(number), side="right")) - 1
        while place >= 0 and self._numbers[place] == number:
            found = self._read(int(self._places[place]), int(self._starts[place]), key)
            if found is not None:
                return found
            place -= 1
        return None

    def key_numbers(self) -> Numbers:
        """Return :func:`key_number` of every unit, in ascending order; one of two shards is there twice."""
        self._insert_new()
        return self._numbers

    def close(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None

    def _insert_new(self) -> None:
        if self._new:
            new: Numbers = np.fromiter(self._new.items(), PAIR)
            self._insert([new.T], len(self._shards) - 1)
            self._new.clear()

    def _insert(self, tables: Sequence[Numbers], first: int) -> None:
        """Insert the units of consecutive shards, each as from :func:`units_of_shard`."""
        places = (np.full(table.shape[1], first + k, np.uint32) for k, table in enumerate(tables))
        numbers = np.concatenate([self._numbers, *(table[0] for table in tables)])
        order = np.argsort(numbers, kind="stable")
        self._numbers = numbers[order]
        self._starts = np.concatenate([self._starts, *(table[1] for table in tables)])[order]
        self._places = np.concatenate([self._places, *places])[order]

    def _read(self, shard: int, start: int, key: bytes) -> CachedUnit[list[bytes]] | None:
        """Return the unit of a line; None where the line is not that of the key."""
        path = self._shards[shard]
        try:
            if self._open is None or self._open[0] != shard:
                self.close()
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

    def key_numbers(self) -> Numbers:
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
        self._index.add(Path(self._file.name), key, start)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._index.close()
        if self._file is not None:
            with writing(self.folder), self._file:
                os.fsync(self._file.fileno())
            units_of_shard(Path(self._file.name), closed=True)

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


def index_file(shard: Path) -> Path:
    """Return the path of a shard's index."""
    return shard.with_suffix(INDEX_SUFFIX)


def units_of_shard(shard: Path, *, closed: bool = False) -> Numbers:
    """Return the units of a shard as uint64[2, N]: :func:`key_number` in ascending order, and starts.

    They are read from its index, or else from its lines. An index is then written where the shard is
    ``closed``, or seems to be, as no job wrote to it for minutes. N is 0 where the shard was deleted.
    """
    index = index_file(shard)
    try:
        state = _state_of(shard)
        closed = closed or time.time() - shard.stat().st_mtime > QUIET_SECONDS
        with contextlib.suppress(OSError):
            data = memoryview(index.read_bytes())
            if data[:DIGEST_BYTES] == _index_digest(state, data[DIGEST_BYTES:]):
                return np.frombuffer(data[DIGEST_BYTES:], "<u8").reshape(2, -1)
        units = _scanned(shard)
    except FileNotFoundError:
        return np.empty((2, 0), np.uint64)
    # Without an index all works, so a full disk or another user's folder is no error.
    with contextlib.suppress(OSError):
        if closed:
            with atomic_write(index) as file:
                file.write(_index_digest(state, units.data))
                file.write(units.data)
    return units


def _state_of(shard: Path) -> bytes:
    """Return the size and the end of a shard, which differ after every write to it."""
    with shard.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - END_BYTES))
        return b"%d %b" % (size, file.read(END_BYTES))


def _index_digest(state: bytes, units: memoryview) -> bytes:
    digest = hashlib.blake2b(state, digest_size=DIGEST_BYTES)
    digest.update(units)
    return digest.digest()


def _scanned(shard: Path) -> Numbers:
    """Return the units of a shard as :func:`units_of_shard`, read from its lines."""
    units: Numbers = np.fromiter(((key_number(key), start) for key, start in _lines_of(shard)), PAIR)
    return np.ascontiguousarray(units[np.argsort(units[:, 0], kind="stable")].T)


def _lines_of(shard: Path) -> Iterator[tuple[bytes, int]]:
    """Yield key and start of every complete line of a shard."""
    with shard.open("rb") as file:
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
