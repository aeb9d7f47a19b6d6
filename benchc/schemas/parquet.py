"""Write and read the Parquet files between stages: written atomically, verified as they are read."""

import hashlib
import json
from bisect import bisect_right
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path
from types import TracebackType
from typing import IO

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from benchc.atomic import atomic_write
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.content_hash import ContentHashes, content_hashes
from benchc.schemas.footer import Footer

# Many viewers fail on larger row groups of images.
ROW_GROUP_BYTES = 128 * 2**20

REMAKE = "delete it and run snakemake again"


@dataclass(frozen=True)
class TableType:
    """The type of one stage's file: name, version and columns in order.

    Floats are finite, except that columns of ``minus_inf`` may contain -inf.
    """

    name: str
    version: int
    columns: Mapping[str, pl.DataType | type[pl.DataType]]
    minus_inf: Collection[str] = ()


class TableError(InputError):
    """A file between stages is damaged, was edited, or is of another type than expected."""


def write_table(
    frame: pl.DataFrame, path: str | Path, table: TableType, footer: Footer | None = None
) -> None:
    """Write ``frame`` atomically to ``path`` as a table of the given type.

    The facts of ``footer`` are stored as JSON, for :func:`read_footer`. Raises TableError as
    :func:`check_frame`.
    """
    path = Path(path)
    check_frame(frame, path, table)
    content = ContentHashes()
    content.update(frame.clear())
    rows_per_group = max(1, int(frame.height * ROW_GROUP_BYTES / max(1, frame.estimated_size())))
    with atomic_write(path) as file, parquet_writer(file, table, compression="zstd") as parquet:
        for first in range(0, frame.height, rows_per_group):
            # Not a slice, of which Arrow would copy the images of all rows; rows may share the memory of one.
            rows = frame[list(range(first, min(first + rows_per_group, frame.height)))]
            content.update(rows)
            parquet.write_table(arrow_table(rows), row_group_size=rows_per_group)
        parquet.add_key_value_metadata(file_metadata(table, content.hexdigests(), footer))


def check_frame(frame: pl.DataFrame, path: Path, table: TableType) -> None:
    """Raise TableError, naming ``path``, where ``frame`` is not of the type.

    That is where it has other columns, no value in its first one, which names the row (usually the id), or
    NaN or infinite numbers where the type has none.
    """
    if dict(frame.schema) != dict(pl.Schema(table.columns)):
        raise TableError(
            f"{path}: a {table.name} table has the columns {dict(table.columns)}, not {dict(frame.schema)}"
        )
    names = frame.to_series(0)
    if names.null_count():
        row = names.is_null().arg_max()
        raise TableError(
            f"{path}: row {row} would have no {names.name}, so it is not written; correct what computes it"
        )
    for column in frame:
        minus_inf = column.name in table.minus_inf
        if not _valid_numbers(column, minus_inf):
            rows = [
                row for row in range(frame.height) if not _valid_numbers(column[row : row + 1], minus_inf)
            ]
            raise TableError(
                f"{path}: {column.name} would have NaN or infinite numbers in {pluralize(len(rows), 'row')}, "
                f"first that of {frame[rows[0], 0]}, so it is not written; correct what computes them: a "
                "model or an encoder may need another dtype"
            )


def _valid_numbers(column: pl.Series, minus_inf: bool) -> bool:
    """Return whether all floats in ``column``, at any level, are finite, or -inf if ``minus_inf``."""
    dtype = column.dtype
    if isinstance(dtype, pl.List):
        return _valid_numbers(column.explode(), minus_inf)
    if isinstance(dtype, pl.Struct):
        return all(_valid_numbers(column.struct.field(field.name), minus_inf) for field in dtype.fields)
    if not dtype.is_float():
        return True
    values = column.drop_nulls()
    return bool((values.is_finite() | (values == -float("inf")) if minus_inf else values.is_finite()).all())


def file_metadata(table: TableType, content: Mapping[str, str], footer: Footer | None) -> dict[str, str]:
    """Return a file's metadata: its type, the hashes of its columns, its footer, and a digest of these."""
    facts = {
        "benchc.table": table.name,
        "benchc.version": str(table.version),
        "benchc.content": json.dumps(content, ensure_ascii=False),
        "benchc.footer": json.dumps(
            {} if footer is None else footer.content(), sort_keys=True, ensure_ascii=False
        ),
    }
    return {**facts, "benchc.digest": _digest(facts)}


def parquet_writer(file: IO[bytes], table: TableType, **options: object) -> pq.ParquetWriter:
    """Return a writer of a table of the given type, whose pages have checksums."""
    return pq.ParquetWriter(
        file, _arrow_schema(table), write_page_checksum=True, write_statistics=False, **options
    )


def _arrow_schema(table: TableType) -> pa.Schema:
    return arrow_table(pl.DataFrame(schema=pl.Schema(table.columns))).schema


def _read_schema(table: TableType) -> pa.Schema:
    """Return the schema with which pyarrow reads what it wrote: it shortens the offsets of categories."""

    def read(field: pa.Field) -> pa.Field:
        if not pa.types.is_dictionary(field.type):
            return field
        return field.with_type(pa.dictionary(field.type.index_type, pa.string(), field.type.ordered))

    return pa.schema([read(field) for field in _arrow_schema(table)])


def arrow_table(frame: pl.DataFrame) -> pa.Table:
    """Return ``frame`` with Arrow's oldest types, which every reader of Parquet and Arrow supports."""
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())


def read_table(path: str | Path, table: TableType, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read the table at ``path``, or only some of its columns.

    Raises TableError where the file is truncated, of another type or version, or where what is read was
    damaged or edited.
    """
    with TableFile(path, table) as file:
        return file.columns(columns)


def iterate_groups(
    path: str | Path, table: TableType, key: str, wanted: Container[str], groups_at_once: int = 16
) -> Iterator[pl.DataFrame]:
    """Yield the consecutive rows of each value of ``key`` in ``wanted``, with a few groups in memory.

    For images, which may not fit into memory. Raises TableError as :meth:`TableFile.rows`.
    """
    with TableFile(path, table) as file:
        runs = file.columns([key])[key].rle().struct.unnest()
        starts = runs["len"].cum_sum() - runs["len"]
        spans = [
            range(start, start + length)
            for start, length, value in zip(starts, runs["len"], runs["value"], strict=True)
            if value in wanted
        ]
        for first in range(0, len(spans), groups_at_once):
            chunk = spans[first : first + groups_at_once]
            rows = file.rows([row for span in chunk for row in span])
            for start, span in zip(accumulate(map(len, chunk), initial=0), chunk, strict=False):
                yield rows.slice(start, len(span))


class TableFile:
    """A table that is open for reading, and closed at the end of a ``with`` block.

    Raises TableError where the file is truncated, or of another type or version.
    """

    def __init__(self, path: str | Path, table: TableType) -> None:
        self._path = Path(path)
        self._file = _open(self._path)
        metadata = _metadata(self._path, self._file)
        found = (metadata["benchc.table"], metadata["benchc.version"])
        if found != (table.name, str(table.version)):
            raise TableError(
                f"{path}: expected a {table.name} table of version {table.version}, found {found[0]} of "
                f"version {found[1]}; {REMAKE}"
            )
        self._hashes: dict[str, str] = json.loads(metadata["benchc.content"])
        self._schema = pl.Schema(table.columns)
        with _damage(self._path, "not a complete Parquet file"):
            # Before polars sees it: polars panics where a damaged name is not text.
            if not self._file.schema_arrow.equals(_read_schema(table)):
                raise self._edited()
        groups = self._file.metadata
        lengths = [groups.row_group(number).num_rows for number in range(groups.num_row_groups)]
        if sum(lengths) != groups.num_rows:
            raise self._edited()
        self._starts: list[int] = list(accumulate(lengths, initial=0))
        self._kept: tuple[object, pl.DataFrame] | None = None

    def __enter__(self) -> "TableFile":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    @property
    def height(self) -> int:
        """The number of rows."""
        return self._starts[-1]

    def hashes(self, names: Sequence[str]) -> list[str]:
        """Return the hashes of these columns' content, without reading them."""
        return [self._hashes[name] for name in names]

    def columns(self, names: Sequence[str] | None = None) -> pl.DataFrame:
        """Return these columns, by default all. Raises TableError where they do not match their hashes."""
        names = list(self._schema) if names is None else names
        groups = [self._group(number, names) for number in range(len(self._starts) - 1)]
        empty = pl.DataFrame(schema={name: self._schema[name] for name in names})
        with _damage(self._path, "cannot be read"):
            frame = pl.concat([empty, *groups])
        if list(content_hashes(frame).values()) != self.hashes(names):
            raise self._edited()
        return frame

    def rows(self, numbers: Sequence[int], names: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the rows of these ascending numbers, at least one, with these columns, by default all.

        Whole row groups are read, and the last one is kept for the next call. Raises TableError where a page
        does not match its checksum; a hash of all rows would need all rows.
        """
        names = list(self._schema) if names is None else names
        parts = []
        for number, members in groupby(numbers, lambda row: bisect_right(self._starts, row) - 1):
            if self._kept is None or self._kept[0] != (number, names):
                self._kept = ((number, names), self._group(number, names))
            parts.append(self._kept[1][[row - self._starts[number] for row in members]])
        return pl.concat(parts)

    def _group(self, number: int, names: Sequence[str]) -> pl.DataFrame:
        with _damage(self._path, "cannot be read"):
            frame = pl.DataFrame(self._file.read_row_group(number, columns=list(names))).select(names)
        # Pages have checksums, but a group's number of rows has none, and rows are found by it.
        if frame.height != self._starts[number + 1] - self._starts[number]:
            raise self._edited()
        return frame

    def _edited(self) -> TableError:
        return TableError(
            f"{self._path}: its content does not match its hash, so it was edited or damaged; {REMAKE}"
        )


def read_footer(path: str | Path) -> dict[str, object]:
    """Return the footer that was given to :func:`write_table`; raises TableError where it is damaged."""
    path = Path(path)
    with _open(path) as file:
        footer: dict[str, object] = json.loads(_metadata(path, file)["benchc.footer"])
    return footer


def _open(path: Path) -> pq.ParquetFile:
    if not path.exists():
        raise TableError(f"{path}: no such file; run snakemake to create it")
    with _damage(path, "not a complete Parquet file"):
        return pq.ParquetFile(path, page_checksum_verification=True)


def _metadata(path: Path, file: pq.ParquetFile) -> dict[str, str]:
    found = {key.decode(errors="replace"): value for key, value in (file.metadata.metadata or {}).items()}
    facts = {key: value.decode(errors="replace") for key, value in found.items() if key.startswith("benchc.")}
    if facts.pop("benchc.digest", None) != _digest(facts):
        raise TableError(f"{path}: its footer is damaged, edited or of another version of benchc; {REMAKE}")
    return facts


def _digest(facts: Mapping[str, str]) -> str:
    return hashlib.blake2b(json.dumps(facts, sort_keys=True).encode(), digest_size=16).hexdigest()


@contextmanager
def _damage(path: Path, problem: str) -> Iterator[None]:
    try:
        yield
    # Of a damaged footer, pyarrow also decodes names that are not text.
    except (pa.ArrowException, pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        raise TableError(f"{path}: {problem} ({' '.join(str(error).split())}); {REMAKE}") from error
