"""Read the rows of a data set's Parquet file on the Hub, whose images are structs of bytes and path."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchc.sources.error import SourceError
from benchc.sources.item_images import ImageFile

ROWS_AT_ONCE = 16


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

    def rows(self, columns: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield where a row is, for messages, and its values, with a few rows in memory.

        Raises SourceError where a column is missing.
        """
        missing = [name for name in columns if name not in self.names]
        if missing:
            raise SourceError(
                f"{self.path}: has no column {missing[0]!r}; give a Parquet file of {self.dataset}"
            )
        number = 0
        for batch in self._file.iter_batches(ROWS_AT_ONCE, columns=[*columns]):
            for row in batch.to_pylist():
                number += 1
                yield f"{self.path}: row {number}", row


@contextmanager
def opened_parquet(path: Path, dataset: str) -> Iterator[HubFile]:
    """Yield a Parquet file of a data set. Raises SourceError where it is missing or incomplete."""
    try:
        with pq.ParquetFile(path) as file:
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
