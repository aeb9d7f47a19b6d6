"""Write a table of images row by row, in bounded memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import polars as pl
import pyarrow.parquet as pq

from benchc.atomic import atomic_write
from benchc.schemas.content_hash import ContentHashes
from benchc.schemas.footer import Footer
from benchc.schemas.parquet import TableType, arrow_table, check_frame, file_metadata, parquet_writer

# Reading a few items decodes whole row groups.
IMAGE_ROW_GROUP_BYTES = 32 * 2**20


class TableWriter:
    """Writes rows in order; a row group ends before the row that would make it too large."""

    def __init__(self, path: Path, table: TableType, row_bytes: pl.Expr, parquet: pq.ParquetWriter) -> None:
        self._path = path
        self._table = table
        self._row_bytes = row_bytes
        self._parquet = parquet
        self._content = ContentHashes()
        self._group: list[pl.DataFrame] = []
        self._group_bytes = 0
        self.append(pl.DataFrame(schema=pl.Schema(table.columns)))

    def append(self, frame: pl.DataFrame) -> None:
        """Append the rows of ``frame``; raises TableError as ``check_frame``."""
        check_frame(frame, self._path, self._table)
        self._content.update(frame)
        first = 0
        for row, size in enumerate(frame.select(self._row_bytes).to_series()):
            if self._group_bytes and self._group_bytes + size > IMAGE_ROW_GROUP_BYTES:
                self._group.append(frame[first:row])
                self._write_group()
                first = row
            self._group_bytes += size
        self._group.append(frame[first:])

    def finish(self, footer: Footer | None) -> None:
        """Write the last rows and the metadata."""
        self._write_group()
        metadata = file_metadata(self._table, self._content.hexdigests(), footer)
        self._parquet.add_key_value_metadata(metadata)

    def _write_group(self) -> None:
        # Without rechunk, pages would end where the appended frames did.
        rows = pl.concat(self._group, rechunk=True)
        self._group, self._group_bytes = [], 0
        if not rows.is_empty():
            self._parquet.write_table(arrow_table(rows), row_group_size=rows.height)


@contextmanager
def table_writer(
    path: str | Path,
    table: TableType,
    row_bytes: pl.Expr,
    footer: Footer | None = None,
    *,
    compression: Literal["none", "zstd"] = "none",
) -> Iterator[TableWriter]:
    """Yield a writer whose table replaces ``path`` when the block ends without error.

    ``row_bytes`` is the expression for the size of a row. How rows are split over calls of ``append`` does
    not change the file. By default values are not compressed, as images already are; where near rows have the
    same image, zstd stores it once. Memory: about three times the larger of ``IMAGE_ROW_GROUP_BYTES`` and the
    largest row.
    """
    options = {"compression": compression, "use_dictionary": False}
    with atomic_write(path) as file, parquet_writer(file, table, **options) as parquet:
        writer = TableWriter(Path(path), table, row_bytes, parquet)
        yield writer
        writer.finish(footer)
