"""The rows of an export: every item with its images, in a split for each corruption and severity."""

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from benchc.corruptions.chunks import CorruptionSpec, write_corrupted
from benchc.corruptions.recipe import CLEAN, Recipe
from benchc.export.finished import Finished
from benchc.export.shards import IMAGE, Row, Split, with_features
from benchc.export.tsv import TsvFiles
from benchc.images import decode, pixel_hash
from benchc.letters import LETTERS
from benchc.ordered_map import ordered_map
from benchc.progress import track
from benchc.schemas.corrupted_images import StoredImage, encoded_images
from benchc.schemas.parquet import arrow_table, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import pool_images, unique_images
from benchc.transparency import Alpha

TEXTS = pa.list_(pa.string())
DATA, WITHHELD, TSV = "data", "withheld", "vlmevalkit"
# What an export has of an item whose source forbids to pass it on.
WITHHELD_SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "source": pa.string(),
        "corruption": pa.string(),
        "severity": pa.int64(),
        "image_keys": TEXTS,
        "source_sha256": TEXTS,
        "pixel_hash": pa.string(),
    }
)
CPUS = os.cpu_count() or 1


@dataclass
class Exported:
    """What was written: the schema of the rows, and each split's shards, rows and bytes by its name."""

    schema: pa.Schema
    splits: dict[str, tuple[list[Path], int, int]] = field(default_factory=dict)
    withheld_rows: int = 0

    @property
    def rows(self) -> int:
        return sum(rows for _, rows, _ in self.splits.values())


def write_items(
    finished: Finished, withheld: Collection[str], folder: Path, scratch: Path, *, tsv: bool
) -> Exported:
    """Write the rows of all items of a finished run below ``folder``.

    ``withheld``: the sources of which only ids, keys and hashes are written; ``scratch``: an empty folder for
    images that the run did not keep; ``tsv``: whether files for VLMEvalKit are written, too. Memory: a few
    items with all their images, and a row group of each severity.
    """
    ids = finished.ids
    items = {row["id"]: row for row in _texts(finished, ids)}
    own = finished.item_columns()
    hashes = _source_hashes(finished, ids)
    several = any(len(items[id_]["image_keys"]) > 1 for id_ in ids)
    schema = _schema(own, several)
    written = Exported(with_features(schema))
    added = dict(zip(ids, own.drop("id").to_dicts(), strict=True))
    most = max((len(item["options"] or []) for item in items.values()), default=0)
    hidden = Split(folder / WITHHELD, "items", WITHHELD_SCHEMA)
    numbers = {id_: number for number, id_ in enumerate(ids)}
    named = finished.run.settings.name.replace("-", "_")
    for corruption, recipe in finished.run.images.recipes.items():
        cells = {level: cell_name(corruption, level) for level in recipe.severities}
        splits = {level: Split(folder / DATA, cell, schema) for level, cell in cells.items()}
        tables = {
            level: TsvFiles(folder / TSV, f"benchc_{named}_{cell}", most) for level, cell in cells.items()
        }
        for id_, images, pixels in _shown(finished, corruption, ids, scratch):
            item = items[id_]
            for level in images[0][1]:
                facts = {
                    "id": id_,
                    "source": item["source"],
                    "corruption": corruption,
                    "severity": level,
                    "image_keys": item["image_keys"],
                    "source_sha256": hashes[id_],
                    "pixel_hash": pixels[level],
                }
                if item["source"] in withheld:
                    hidden.append(facts, 0)
                    continue
                files = [by_level[level] for _, by_level in images]
                splits[level].append(_row(item, facts, files, several) | added[id_], sum(map(len, files)))
                if tsv:
                    tables[level].append(numbers[id_], item, files)
        for level, split in splits.items():
            tables[level].close()
            if shards := split.finish():
                written.splits[cells[level]] = (shards, split.rows, split.bytes)
    hidden.finish()
    written.withheld_rows = hidden.rows
    return written


def cell_name(corruption: str, severity: int) -> str:
    """Return the name of the split of a corruption at one severity."""
    return corruption if corruption == CLEAN else f"{corruption}_{severity}"


def generate_images(
    finished_pool: Path,
    ids: Collection[str],
    recipe: Recipe,
    seed: int,
    alpha: Alpha,
    output: Path,
    levels: Mapping[str, list[int]] | None = None,
) -> None:
    """Write the images of some items of a pool under a recipe, as the run's jobs do, to a CORRUPTED table.

    ``levels``: the severities of each image by its key, None for all of the recipe.
    """
    images = unique_images(finished_pool, ids)
    write_corrupted(images, CorruptionSpec(recipe, seed, alpha), output, CPUS, None, None, levels)


def pixel_hashes(images: list[StoredImage]) -> dict[int, str]:
    """Return the hash of an item's images by severity."""
    return {level: pixel_hash([decode(by_level[level]) for _, by_level in images]) for level in images[0][1]}


def _shown(
    finished: Finished, corruption: str, ids: list[str], scratch: Path
) -> Iterator[tuple[str, list[StoredImage], dict[int, str]]]:
    """Yield each item's id, its images under a corruption, and the hashes of their pixels by severity."""
    levels = finished.levels(corruption, ids)
    if finished.images_folder is None:
        settings = finished.run.settings
        path = scratch / f"{corruption}.parquet"
        recipe, alpha = finished.run.images.recipes[corruption], settings.corruptions.alpha
        by_key = finished.levels_of_images(corruption, ids)
        generate_images(finished.pool, set(levels), recipe, settings.seed, alpha, path, by_key)
    else:
        path = finished.folder / finished.images_folder / f"{corruption}.parquet"
    keys = {id_: finished.keys[id_] for id_ in levels}

    def hashed(item: tuple[str, list[StoredImage]]) -> tuple[str, list[StoredImage], dict[int, str]]:
        return *item, pixel_hashes(item[1])

    images = encoded_images(path, keys, assigned=levels, at_once=4)
    found = ordered_map(hashed, images, ThreadPoolExecutor(CPUS), 2 * CPUS)
    yield from track(found, label=f"export {corruption}", unit="items", total=len(keys))
    if finished.images_folder is None:
        path.unlink()


def _texts(finished: Finished, ids: Collection[str]) -> Iterator[dict[str, Any]]:
    columns = [name for name in POOL.columns if name != "images"]
    frame = read_table(finished.pool, POOL, columns)
    yield from frame.filter(pl.col("id").is_in(list(ids))).iter_rows(named=True)


def _source_hashes(finished: Finished, ids: Collection[str]) -> dict[str, list[str]]:
    """Return the SHA-256 of each item's images as their source has published them."""
    return {
        id_: [hashlib.sha256(data or b"").hexdigest() for _, data in images]
        for id_, images in pool_images(finished.pool, set(ids))
    }


def _row(item: Mapping[str, Any], facts: Row, files: list[bytes], several: bool) -> Row:
    encoded = [{"bytes": data, "path": None} for data in files]
    answer = item["answer"]
    return facts | {
        "task": item["task"],
        **({"images": encoded} if several else {"image": encoded[0]}),
        "question": item["question"],
        "hint": item["hint"],
        "choices": item["options"] or [],
        "answer": None if answer is None else LETTERS[answer],
        "category": item["category"],
        "l2_category": item["l2_category"],
        "source_row": item["id"].removeprefix(f"{item['source']}/"),
    }


def _schema(own: pl.DataFrame, several: bool) -> pa.Schema:
    fields = {
        "id": pa.string(),
        "source": pa.string(),
        "task": pa.string(),
        **({"images": pa.list_(IMAGE)} if several else {"image": IMAGE}),
        **dict.fromkeys(("question", "hint"), pa.string()),
        "choices": TEXTS,
        **dict.fromkeys(("answer", "category", "l2_category", "corruption"), pa.string()),
        "severity": pa.int64(),
    }
    for name in own.columns[1:]:
        fields[name] = _small(arrow_table(own.select(name)).schema.field(0).type)
    fields |= {
        "source_row": pa.string(),
        "source_sha256": TEXTS,
        "image_keys": TEXTS,
        "pixel_hash": pa.string(),
    }
    return pa.schema(fields)


def _small(dtype: pa.DataType) -> pa.DataType:
    """Return a type whose texts and lists have the usual offsets."""
    if pa.types.is_large_string(dtype):
        return pa.string()
    if pa.types.is_list(dtype) or pa.types.is_large_list(dtype):
        return pa.list_(_small(dtype.value_type))
    return dtype
