"""The files of a finished run in its export, without what may not be passed on."""

import shutil
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from benchc.errors import InputError
from benchc.export.finished import CONTENT, POOL_FILE, REFERENCES_FILE, Finished
from benchc.schemas.corrupted import CORRUPTED, CorruptedFooter
from benchc.schemas.corrupted_images import StoredImage, encoded_images
from benchc.schemas.footer import ImageFooter
from benchc.schemas.parquet import TableFile, read_footer, read_table, write_table
from benchc.schemas.pool import POOL, PoolFooter
from benchc.schemas.references import REFERENCES
from benchc.schemas.row_groups import TableWriter, table_writer

IMAGE_BYTES = pl.col("image").struct.field("bytes").bin.size()
POOL_BYTES = pl.col("images").list.eval(pl.element().struct.field("bytes").bin.size()).list.sum().fill_null(0)
# Of an item that is not passed on, the pool says only which images it has.
KEPT = ("id", "source", "image_keys")


def copy_run(finished: Finished, withheld: Collection[str], left_out: Collection[str], folder: Path) -> None:
    """Copy the files of a finished run to ``folder``, without tables of corrupted images.

    Raises InputError where a table has questions or images of ``withheld`` sources, which cannot be told
    apart in it.
    """
    for name in finished.files():
        if name in left_out:
            continue
        source, target = finished.folder / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if withheld and name == POOL_FILE:
            _write_pool(source, withheld, target)
        elif withheld and name == REFERENCES_FILE:
            _write_references(finished, withheld, target)
        else:
            if withheld:
                refuse_content(source, withheld)
            shutil.copyfile(source, target)
    if finished.other_ids:
        _copy_other_images(finished, withheld, folder)


def footer_of(path: Path) -> dict[str, Any]:
    """Return the facts in a table's footer, as its class takes them."""
    return read_footer(path)


def pool_hashes(pool: Path) -> list[str]:
    """Return the hashes of the columns of a pool."""
    with TableFile(pool, POOL) as file:
        return file.hashes([*POOL.columns])


def _write_pool(pool: Path, withheld: Collection[str], target: Path) -> None:
    """Write a pool in which items of ``withheld`` sources have no content."""
    with (
        TableFile(pool, POOL) as file,
        table_writer(target, POOL, POOL_BYTES, PoolFooter(**footer_of(pool)), compression="zstd") as writer,
    ):
        for number in range(file.height):
            row = file.rows([number])
            if row["source"][0] in withheld:
                empty = [name for name in POOL.columns if name not in KEPT]
                row = row.with_columns(pl.lit(None, POOL.columns[name]).alias(name) for name in empty)
            writer.append(row)


def _write_references(finished: Finished, withheld: Collection[str], target: Path) -> None:
    """Write the reference answers without those of ``withheld`` sources."""
    path = finished.folder / REFERENCES_FILE
    sources = read_table(finished.pool, POOL, ["id", "source"])
    kept = sources.filter(~pl.col("source").is_in(list(withheld)))["id"]
    rows = read_table(path, REFERENCES).filter(pl.col("id").is_in(kept.implode()))
    write_table(rows, target, REFERENCES, ImageFooter(**footer_of(path)))


def refuse_content(path: Path, withheld: Collection[str]) -> None:
    """Raise InputError for a Parquet file with images or texts of items, any of which may be ``withheld``."""
    if path.suffix != ".parquet":
        return
    schema = pq.read_schema(path)
    if any("binary" in str(field.type) for field in schema) or CONTENT.intersection(schema.names):
        raise InputError(
            f"{path}: may have questions or images of {' and '.join(sorted(withheld))}, whose licence is not "
            "known to allow that they are passed on; state the licence in the source catalogue, or give "
            "--redistribute with the ids of these sources if their publishers allow it"
        )


def _copy_other_images(finished: Finished, withheld: Collection[str], folder: Path) -> None:
    """Write the corrupted images of items outside the benchmark that models are asked about, too."""
    sources = dict(read_table(finished.pool, POOL, ["id", "source"]).iter_rows())
    ids = [id_ for id_ in finished.other_ids if sources[id_] not in withheld]
    for corruption in finished.run.images.recipes:
        path = finished.folder / "corrupted" / f"{corruption}.parquet"
        levels = finished.levels(corruption, ids)
        keys = {id_: finished.keys[id_] for id_ in levels}
        footer = CorruptedFooter(**footer_of(path))
        with table_writer(
            folder / "corrupted" / path.name, CORRUPTED, IMAGE_BYTES, footer, compression="zstd"
        ) as writer:
            append_images(
                writer, (images for _, images in encoded_images(path, keys, assigned=levels)), set()
            )


def append_images(
    writer: TableWriter, items: Iterable[Sequence[StoredImage]], seen: set[tuple[str, int]]
) -> None:
    """Append the images of items, but for those, by key and severity, that are in ``seen``, and add them."""
    for images in items:
        for key, by_level in images:
            new = [(level, data) for level, data in sorted(by_level.items()) if (key, level) not in seen]
            seen.update((key, level) for level, _ in new)
            rows = [(key, level, {"bytes": data, "path": None}) for level, data in new]
            writer.append(pl.DataFrame(rows, schema=pl.Schema(CORRUPTED.columns), orient="row"))
