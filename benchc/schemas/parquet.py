"""Write and read the Parquet files between stages: written atomically, checked against type and hash."""

import hashlib
import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchc.atomic import atomic_write
from benchc.errors import InputError

# Many viewers fail on larger row groups of images.
ROW_GROUP_BYTES = 128 * 2**20


@dataclass(frozen=True)
class TableType:
    """The type of one stage's file: name, version and columns in order."""

    name: str
    version: int
    columns: Mapping[str, pl.DataType | type[pl.DataType]]


class TableError(InputError):
    """A file between stages is damaged, was edited, or is of another type than expected."""


def write_table(
    frame: pl.DataFrame, path: str | Path, table: TableType, footer: Mapping[str, object] | None = None
) -> None:
    """Write ``frame`` atomically to ``path`` as a table of the given type.

    ``footer`` is stored as JSON, for :func:`read_footer`. Raises TableError where the columns are not those
    of the type or the file cannot be written, such as on a full disk.
    """
    path = Path(path)
    check_columns(frame, path, table)
    metadata = file_metadata(table, content_hash(frame), footer)
    rows_per_group = max(1, int(frame.height * ROW_GROUP_BYTES / max(1, frame.estimated_size())))
    try:
        with atomic_write(path) as file:
            frame.write_parquet(
                file, metadata=metadata, row_group_size=rows_per_group, compression="zstd", statistics=False
            )
    except pl.exceptions.PolarsError as error:  # instead of an OSError
        raise TableError(f"{path}: cannot be written ({error}); check the disk and run it again") from error


def check_columns(frame: pl.DataFrame, path: Path, table: TableType) -> None:
    """Raise TableError, naming ``path``, where the columns of ``frame`` are not those of the type."""
    if dict(frame.schema) != dict(pl.Schema(table.columns)):
        raise TableError(
            f"{path}: a {table.name} table has the columns {dict(table.columns)}, not {dict(frame.schema)}"
        )


def file_metadata(table: TableType, content: str, footer: Mapping[str, object] | None) -> dict[str, str]:
    """Return a file's metadata: its type, the hash of its content, its footer."""
    return {
        "benchc.table": table.name,
        "benchc.version": str(table.version),
        "benchc.content": content,
        "benchc.footer": json.dumps(dict(footer or {}), sort_keys=True, ensure_ascii=False),
    }


def read_table(path: str | Path, table: TableType, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read the table at ``path``, or only some of its columns.

    The content is compared with the hash in the file only where all columns are read. Raises TableError where
    the file is truncated, edited, or of another type or version.
    """
    path = Path(path)
    metadata = _metadata(path)
    found = (metadata.get("benchc.table"), metadata.get("benchc.version"))
    if found != (table.name, str(table.version)):
        raise TableError(
            f"{path}: expected a {table.name} table of version {table.version}, found {found[0]} of version "
            f"{found[1]}; delete it and run snakemake again"
        )
    try:
        frame = pl.read_parquet(path, columns=list(columns) if columns is not None else None, glob=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TableError(f"{path}: cannot be read ({error}); delete it and run snakemake again") from error
    if columns is None and content_hash(frame) != metadata.get("benchc.content"):
        raise TableError(
            f"{path}: its content does not match its hash, so it was edited or damaged; delete it and run "
            "snakemake again"
        )
    return frame


def iterate_groups(
    path: str | Path, table: TableType, key: str, wanted: Container[str], groups_at_once: int = 16
) -> Iterator[pl.DataFrame]:
    """Yield the consecutive rows of each value of ``key`` in ``wanted``, with a few groups in memory.

    For images, which may not fit into memory; the content is not compared with its hash. Raises TableError
    as :func:`read_table`.
    """
    runs = read_table(path, table, [key])[key].rle().struct.unnest()
    starts = runs["len"].cum_sum() - runs["len"]
    spans = [
        (start, length)
        for start, length, value in zip(starts, runs["len"], runs["value"], strict=True)
        if value in wanted
    ]
    for first in range(0, len(spans), groups_at_once):
        chunk = spans[first : first + groups_at_once]
        begin, end = chunk[0][0], chunk[-1][0] + chunk[-1][1]
        try:
            rows = pl.scan_parquet(path, glob=False).slice(begin, end - begin).collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise TableError(
                f"{path}: cannot be read ({error}); delete it and run snakemake again"
            ) from error
        for start, length in chunk:
            yield rows.slice(start - begin, length)


def read_footer(path: str | Path) -> dict[str, object]:
    """Return the footer that was given to :func:`write_table`; raises TableError where it is damaged."""
    try:
        footer = json.loads(_metadata(Path(path)).get("benchc.footer", "{}"))
    except ValueError:
        footer = None
    if not isinstance(footer, dict):
        raise TableError(f"{path}: its footer is not a JSON mapping; delete it and run snakemake again")
    return footer


def content_hash(frame: pl.DataFrame) -> str:
    """Return a hash of the columns' names, types and values, however the file encodes them."""
    content = ContentHash()
    content.update(frame)
    return content.hexdigest()


# Parquet's page checksums are no substitute: a file that another program rewrote has valid ones, or none, and
# polars does not verify them.
class ContentHash:
    """The :func:`content_hash` of a table that comes in several frames; how rows are split does not matter.

    Every column, and every level of a nested one, has its own hash of its nulls, its lengths and its values,
    so that more rows only append to each.
    """

    def __init__(self) -> None:
        self._rows = 0
        self._streams: dict[str, hashlib.blake2b] = {}

    def update(self, frame: pl.DataFrame) -> None:
        """Append the rows of ``frame``, which has the columns of the frames before."""
        self._rows += frame.height
        for column in frame:
            self._update(f"{column.name}\x1f{column.dtype}", column)

    def hexdigest(self) -> str:
        """Return 32 hexadecimal digits for the rows so far."""
        digest = hashlib.blake2b(f"{self._rows}\x1e".encode(), digest_size=16)
        for name, stream in self._streams.items():
            digest.update(f"{name}\x1e".encode() + stream.digest())
        return digest.hexdigest()

    def _stream(self, name: str) -> hashlib.blake2b:
        return self._streams.setdefault(name, hashlib.blake2b(digest_size=16))

    def _numbers(self, name: str, column: pl.Series) -> None:
        self._stream(name).update(column.to_numpy().tobytes())

    def _update(self, name: str, column: pl.Series) -> None:
        self._numbers(f"{name}\x1fnulls", column.is_null())
        dtype = column.dtype
        if isinstance(dtype, pl.List):
            self._numbers(f"{name}\x1flengths", column.list.len().fill_null(0).cast(pl.Int64))
            self._update(f"{name}\x1felements", column.explode())
        elif isinstance(dtype, pl.Struct):
            for field in dtype.fields:
                self._update(f"{name}\x1f{field.name}", column.struct.field(field.name))
        elif isinstance(dtype, pl.Enum):
            self._update(f"{name}\x1ftext", column.cast(pl.String))
        elif dtype in (pl.String, pl.Binary):
            values = column.cast(pl.Binary)
            self._numbers(f"{name}\x1flengths", values.bin.size("b").fill_null(0).cast(pl.Int64))
            stream = self._stream(f"{name}\x1fvalues")
            for value in values.drop_nulls():
                stream.update(value)
        else:
            self._numbers(f"{name}\x1fvalues", column.fill_null(False if dtype == pl.Boolean else 0))


def _metadata(path: Path) -> dict[str, str]:
    if not path.exists():
        raise TableError(f"{path}: no such file; run snakemake to create it")
    try:
        return dict(pl.read_parquet_metadata(path))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TableError(
            f"{path}: not a complete Parquet file ({error}); delete it and run snakemake again"
        ) from error
