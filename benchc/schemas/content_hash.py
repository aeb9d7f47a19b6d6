"""Hashes of the content of a table's columns, however a file encodes it."""

import hashlib

import polars as pl
from polars.datatypes import DataTypeClass


def content_hashes(frame: pl.DataFrame) -> dict[str, str]:
    """Return, by column, a hash of its type and values, 32 hexadecimal digits each."""
    content = ContentHashes()
    content.update(frame)
    return content.hexdigests()


class ContentHashes:
    """The :func:`content_hashes` of a table that comes in several frames; how rows are split does not matter.

    Every level of a nested column has its own hash of its nulls, its lengths and its values, so that more
    rows only append to each.
    """

    def __init__(self) -> None:
        self._columns: dict[str, dict[str, hashlib.blake2b]] = {}

    def update(self, frame: pl.DataFrame) -> None:
        """Append the rows of ``frame``, which has the columns of the frames before.

        Raises TypeError for a type whose values have no exact and stable bytes, such as Decimal.
        """
        for column in frame:
            streams = self._columns.setdefault(column.name, {})
            _update(streams, str(column.dtype), column)

    def hexdigests(self) -> dict[str, str]:
        """Return the hashes of the rows so far, by column."""
        return {name: _digest(streams) for name, streams in self._columns.items()}


# Elsewhere polars rounds (Decimal), or has no values in memory (Categorical: only codes).
_NUMBERS: tuple[DataTypeClass, ...] = (pl.Boolean, pl.Int8, pl.Int64, pl.Float32, pl.Float64)


def _digest(streams: dict[str, hashlib.blake2b]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name, stream in streams.items():
        digest.update(f"{name}\x1e".encode() + stream.digest())
    return digest.hexdigest()


def _stream(streams: dict[str, hashlib.blake2b], name: str) -> hashlib.blake2b:
    return streams.setdefault(name, hashlib.blake2b(digest_size=16))


def _append(streams: dict[str, hashlib.blake2b], name: str, column: pl.Series) -> None:
    _stream(streams, name).update(column.to_numpy().tobytes())


def _update(streams: dict[str, hashlib.blake2b], name: str, column: pl.Series) -> None:
    _append(streams, f"{name}\x1fnulls", column.is_null())
    dtype = column.dtype
    if isinstance(dtype, pl.List):
        _append(streams, f"{name}\x1flengths", column.list.len().fill_null(0).cast(pl.Int64))
        _update(streams, f"{name}\x1felements", column.explode())
    elif isinstance(dtype, pl.Struct):
        for field in dtype.fields:
            _update(streams, f"{name}\x1f{field.name}", column.struct.field(field.name))
    elif isinstance(dtype, pl.Enum):
        _update(streams, f"{name}\x1ftext", column.cast(pl.String))
    elif dtype in (pl.String, pl.Binary):
        values = column.cast(pl.Binary)
        _append(streams, f"{name}\x1flengths", values.bin.size("b").fill_null(0).cast(pl.Int64))
        stream = _stream(streams, f"{name}\x1fvalues")
        for value in values.drop_nulls():
            stream.update(value)
    elif dtype in _NUMBERS:
        _append(streams, f"{name}\x1fvalues", column.fill_null(False if dtype == pl.Boolean else 0))
    else:
        raise TypeError(f"a table between stages has no columns of the type {dtype}")
