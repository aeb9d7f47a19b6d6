"""Read the rows of a data set's Parquet file on the Hub, whose images are structs of bytes and path.

A column of class labels, as the metadata of Hugging Face's ``datasets`` declares it, has their names.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from benchc.json_content import json_content
from benchc.sources.error import SourceError

ROWS_AT_ONCE = 16
# Bytes of a row group, and times the file's bytes, above which it is no data set: texts pack to a hundredth
# at most, and images hardly.
LARGEST_UNPACKED = 2**26
MOST_PACKED = 100
LARGEST_TABLE = 2**31  # bytes of columns that are in memory at once
# What pyarrow raises for a damaged file; of one with texts that are none, Python.
UNREADABLE = (pa.ArrowException, OSError, ValueError, OverflowError)
# Of a column. Without, a whole row group would be in memory, and with pre_buffer, too.
BUFFER_BYTES = 2**20


@dataclass(frozen=True)
class HubFile:
    """An open Parquet file of a ``dataset``, whose name is for messages."""

    path: Path
    dataset: str
    _file: pq.ParquetFile
    _most_unpacked: int

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return list(self._file.schema_arrow.names)

    def has_files(self, column: str) -> bool:
        """Return whether the values of a column are bytes, structs with bytes, or lists of these."""
        return _has_bytes(self._file.schema_arrow.field(column).type)

    def rows(
        self, columns: Sequence[str], as_stored: Collection[str] = ()
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield where a row is, for messages, and its values, with a few rows in memory.

        Raises SourceError where a column is missing.
        """
        missing = [name for name in columns if name not in self.names]
        if missing:
            raise SourceError(
                f"{self.path}: has no column {missing[0]!r}; give a Parquet file of {self.dataset}"
            )
        labels = _class_labels(self._file.schema_arrow)
        as_stored = [name for name in as_stored if any(map(str.isdigit, labels.get(name, ())))]
        number = 0
        try:
            for batch in self._file.iter_batches(ROWS_AT_ONCE, columns=[*columns]):
                for row in batch.to_pylist():
                    number += 1
                    for name in labels.keys() & row.keys() - {*as_stored}:
                        if isinstance(row[name], int) and 0 <= row[name] < len(labels[name]):
                            row[name] = labels[name][row[name]]
                    yield f"{self.path}: row {number}", row
        except UNREADABLE as error:
            raise SourceError(
                f"{self.path}: after row {number} it is damaged ({_line(error)}); fetch it again"
            ) from error

    def frame(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return columns of the file, which are then in memory.

        Raises SourceError where they are damaged, or have more than LARGEST_TABLE bytes: a few bytes of a
        file may stand for a million equal values.
        """
        schema = pa.schema({name: _plain(self._file.schema_arrow.field(name).type) for name in columns})
        # One row has at most all bytes of a column.
        at_once = max(ROWS_AT_ONCE, min(LARGEST_UNPACKED // max(1, self._most_unpacked), 2**16))
        batches: list[pa.RecordBatch] = []
        size = 0
        try:
            for batch in self._file.iter_batches(at_once, columns=[*columns]):
                batch.validate(full=True)
                # Each batch would count the whole dictionary of a column.
                arrays = [
                    each.dictionary_decode() if pa.types.is_dictionary(each.type) else each
                    for each in batch.select(columns).columns
                ]
                batches.append(pa.record_batch(arrays, schema=schema))
                size += batches[-1].nbytes
                if size > LARGEST_TABLE:
                    break
            frame = pl.DataFrame(pa.Table.from_batches(batches, schema))
        # polars panics where a name is no text.
        except (*UNREADABLE, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise SourceError(f"{self.path}: is damaged ({_line(error)}); copy it again") from error
        if size > LARGEST_TABLE:
            raise SourceError(
                f"{self.path}: has more than {LARGEST_TABLE:,} bytes when it is unpacked; give fewer rows"
            )
        return frame


def _plain(type_: pa.DataType) -> pa.DataType:
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _has_bytes(type_: pa.DataType) -> bool:
    nested = [type_.field(number).type for number in range(type_.num_fields)]
    return pa.types.is_binary(type_) or pa.types.is_large_binary(type_) or any(map(_has_bytes, nested))


def _class_labels(schema: pa.Schema) -> dict[str, list[str]]:
    """Return the names of the classes of columns that have class labels; none where nothing declares them."""
    try:
        features = json_content((schema.metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
        labels = {name: each["names"] for name, each in features.items() if each.get("_type") == "ClassLabel"}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {name: [*map(str, names)] for name, names in labels.items() if isinstance(names, list)}


def _most_unpacked(path: Path, file: pq.ParquetFile) -> int:
    """Return the bytes of the largest row group when it is unpacked.

    Raises SourceError where it would take far more memory than the file has bytes. Of a damaged column's
    metadata, pyarrow would end the process, so they are not asked for.
    """
    groups = range(file.metadata.num_row_groups)
    most = max((file.metadata.row_group(group).total_byte_size for group in groups), default=0)
    if most > max(LARGEST_UNPACKED, MOST_PACKED * path.stat().st_size):
        raise SourceError(
            f"{path}: a row group has {most:,} bytes when it is unpacked, of a small file; fetch it again, "
            "or write smaller row groups"
        )
    return most


@contextmanager
def opened_parquet(path: Path, dataset: str) -> Iterator[HubFile]:
    """Yield a Parquet file of a data set. Raises SourceError where it is missing or incomplete."""
    if path.is_dir():
        raise SourceError(f"{path}: is a folder; give a Parquet file")
    with ExitStack() as stack:
        try:
            file = stack.enter_context(pq.ParquetFile(path, buffer_size=BUFFER_BYTES, pre_buffer=False))
            names = file.schema_arrow.names
        except FileNotFoundError as error:
            raise SourceError(f"{path}: no such file; correct the path") from error
        except UNREADABLE as error:
            raise SourceError(
                f"{path}: is not a complete Parquet file ({_line(error)}); fetch it again"
            ) from error
        if repeated := next((name for name in names if names.count(name) > 1), None):
            raise SourceError(f"{path}: has several columns {repeated!r}; rename or remove them")
        yield HubFile(path, dataset, file, _most_unpacked(path, file))
