"""Write rows with images to Parquet shards, as the Hub and `datasets` read them, in bounded memory."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

# The Hub's viewer refuses row groups of several hundred megabytes; the Hub recommends shards of this size.
ROW_GROUP_BYTES = 16 * 2**20
SHARD_BYTES = 500 * 10**6

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
Row = dict[str, Any]


def with_features(schema: pa.Schema) -> pa.Schema:
    """Return a schema with the metadata by which `datasets` knows which columns are images."""
    features = {field.name: feature(field.type) for field in schema}
    return schema.with_metadata({"huggingface": json.dumps({"info": {"features": features}})})


def feature(dtype: pa.DataType) -> dict[str, Any]:
    """Return a column's type as `datasets` writes it."""
    if dtype == IMAGE:
        return {"_type": "Image"}
    if pa.types.is_list(dtype) or pa.types.is_large_list(dtype):
        return {"feature": feature(dtype.value_type), "_type": "List"}
    return {"dtype": {"double": "float64"}.get(str(dtype), str(dtype)), "_type": "Value"}


class Split:
    """The shards of one split, ``{folder}/{name}-00000-of-00001.parquet`` and so on.

    ``rows`` and ``bytes`` count what was written: rows, and their images and texts as stored in memory.
    Memory: about three times ROW_GROUP_BYTES and the largest row.
    """

    def __init__(self, folder: Path, name: str, schema: pa.Schema) -> None:
        self.name, self.rows, self.bytes = name, 0, 0
        self._folder, self._schema = folder, with_features(schema)
        self._group: list[Row] = []
        self._group_bytes = self._shard_bytes = 0
        self._shards: list[Path] = []
        self._writer: pq.ParquetWriter | None = None

    def append(self, row: Row, size: int) -> None:
        """Append a row; ``size``: the bytes of its images."""
        if self._group and self._group_bytes + size > ROW_GROUP_BYTES:
            self._write_group()
        self._group.append(row)
        self._group_bytes += size

    def finish(self) -> list[Path]:
        """Write the last rows, and return the shards."""
        self._write_group()
        self._close()
        names = [f"{self.name}-{number:05}-of-{len(self._shards):05}" for number in range(len(self._shards))]
        return [
            path.rename(self._folder / f"{name}.parquet")
            for path, name in zip(self._shards, names, strict=True)
        ]

    def _write_group(self) -> None:
        if not self._group:
            return
        if self._writer is not None and self._shard_bytes + self._group_bytes > SHARD_BYTES:
            self._close()
        if self._writer is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._shards.append(self._folder / f"{self.name}.{len(self._shards)}")
            self._shard_bytes = 0
            # Near rows may have the same image, which zstd then stores once.
            options = {"compression": "zstd", "use_dictionary": False, "write_page_checksum": True}
            self._writer = pq.ParquetWriter(self._shards[-1], self._schema, write_statistics=False, **options)
        table = pa.Table.from_pylist(self._group, self._schema)
        self._writer.write_table(table, row_group_size=table.num_rows)
        self.rows += table.num_rows
        self.bytes += table.nbytes
        self._shard_bytes += self._group_bytes
        self._group, self._group_bytes = [], 0

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def shards_of(folder: Path, split: str) -> list[Path]:
    """Return the shards of a split, in order."""
    return sorted(folder.glob(f"{split}-?????-of-?????.parquet"))


def read_rows(paths: list[Path], columns: list[str]) -> Iterator[Row]:
    """Yield the rows of shards in order, a row group at a time, with those of ``columns`` that they have."""
    for path in paths:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            found = [name for name in columns if name in file.schema_arrow.names]
            for number in range(file.num_row_groups):
                yield from file.read_row_group(number, columns=found).to_pylist()
