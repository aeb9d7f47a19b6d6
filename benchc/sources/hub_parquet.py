"""Read the rows of a data set's Parquet file on the Hub, whose images are structs of bytes and path.

A column of class labels, as the metadata of Hugging Face's ``datasets`` declares it, has their names.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchc.sources.error import SourceError
from benchc.sources.item_images import ImageFile

ROWS_AT_ONCE = 16
# Of a column. Without, a whole row group would be in memory, and with pre_buffer, too.
BUFFER_BYTES = 2**20


@dataclass(frozen=True)
class HubFile:
    """An open Parquet file of a ``dataset``, whose name is for messages."""

    path: Path
    dataset: str
    _file: pq.ParquetFile

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
        except (OSError, UnicodeDecodeError) as error:
            reason = " ".join(str(error).split())
            raise SourceError(
                f"{self.path}: after row {number} it is damaged ({reason}); fetch it again"
            ) from error


def _has_bytes(type_: pa.DataType) -> bool:
    nested = [type_.field(number).type for number in range(type_.num_fields)]
    return pa.types.is_binary(type_) or pa.types.is_large_binary(type_) or any(map(_has_bytes, nested))


def _class_labels(schema: pa.Schema) -> dict[str, list[str]]:
    """Return the names of the classes of columns that have class labels; none where nothing declares them."""
    try:
        features = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
        labels = {name: each["names"] for name, each in features.items() if each.get("_type") == "ClassLabel"}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {name: names for name, names in labels.items() if isinstance(names, list)}


@contextmanager
def opened_parquet(path: Path, dataset: str) -> Iterator[HubFile]:
    """Yield a Parquet file of a data set. Raises SourceError where it is missing or incomplete."""
    try:
        with pq.ParquetFile(path, buffer_size=BUFFER_BYTES, pre_buffer=False) as file:
            names = file.schema_arrow.names
            if repeated := next((name for name in names if names.count(name) > 1), None):
                raise SourceError(f"{path}: has several columns {repeated!r}; rename or remove them")
            yield HubFile(path, dataset, file)
    except FileNotFoundError as error:
        raise SourceError(f"{path}: no such file; correct the path") from error
    except pa.ArrowException as error:
        reason = " ".join(str(error).split())
        raise SourceError(f"{path}: is not a complete Parquet file ({reason}); fetch it again") from error


def image_of(where: str, cell: object) -> ImageFile:
    """Return the image file in a cell; raises SourceError where it has no bytes."""
    data, path = (cell.get("bytes"), cell.get("path")) if isinstance(cell, Mapping) else (cell, None)
    if not isinstance(data, bytes) or not data:
        raise SourceError(f"{where}: has no image bytes; fetch the file with its images")
    return ImageFile(data, path)
