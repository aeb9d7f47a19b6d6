"""What is known of a run before it is made: counted in the tables that it has so far, or bounded."""

import io
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from PIL import Image

from benchc.config.catalogue import Source
from benchc.config.settings import Pool
from benchc.corruptions.recipe import CLEAN
from benchc.errors import InputError
from benchc.rendering.pluralize import pluralize
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import iterate_groups, read_table
from benchc.schemas.pool import POOL
from benchc.sources.pool import largest_cap, task_types

# Items whose images are in memory at once.
GROUPS_AT_ONCE = 256


@dataclass(frozen=True)
class Images:
    """How many images some items have, and how many megapixels these have together."""

    count: int
    megapixels: float


Sized = tuple[str, int]  # an image's key and pixels


@dataclass(frozen=True)
class PoolItems:
    """The items of a pool: the number of options of each, and its images by key and size."""

    options: Mapping[str, int]
    images: Mapping[str, Sequence[Sized]]


@dataclass(frozen=True)
class Known:
    """Sizes of a run. What is None is not known yet.

    ``pool`` is the number of items of the pool; where ``pool_exact`` is false it has at most so many.
    ``pool_options`` holds the number of options of every item of the pool. ``pool_images`` counts an image
    once for every item that shows it, ``pool_distinct`` once in all. ``corrupted_bytes`` is what the
    corrupted images take, where all are written.
    """

    pool: int | None = None
    pool_exact: bool = False
    pool_options: tuple[int, ...] | None = None
    pool_images: Images | None = None
    pool_distinct: Images | None = None
    corrupted_bytes: int | None = None


def known_of(
    items: PoolItems | None, sources: Mapping[str, Source], pool: Pool, results: Path
) -> tuple[Known, str]:
    """Return the sizes of a run and a sentence that says where they come from.

    ``items`` are those of the pool, None where it is not made; ``results`` is the folder of the run.
    """
    if items is not None:
        return known_from_items(
            items
        ), f"Pool: {pluralize(len(items.options), 'item')} ({pool_path(results)})."
    paths = {source: results / f"sources/{source}.parquet" for source in sources}
    if all(path.exists() for path in paths.values()):
        columns = {source: entry.task_column for source, entry in sources.items()}
        tables = {source: read_table(path, ITEMS, ["id", columns[source]]) for source, path in paths.items()}
        known = known_from_sources(tables, dict(columns), pool)
        which = "source that is" if len(sources) == 1 else f"{len(sources)} sources that are"
        return known, f"Pool: {pluralize(known.pool or 0, 'item')}, from the {which} read."
    known = known_from_settings(pool)
    if known.pool is None:
        return (
            known,
            "No source is read yet, and pool.total sets no bound: the size of the pool is not known.",
        )
    size = pluralize(known.pool, "item")
    return known, f"Nothing is counted yet: the pool has at most {size} (pool.total)."


def known_from_settings(pool: Pool) -> Known:
    """Return what the configuration alone says: ``pool.total`` is a bound, ``pool.per_task`` is none."""
    return Known(pool=pool.total)


def known_from_sources(items: dict[str, pl.DataFrame], task_columns: dict[str, str], pool: Pool) -> Known:
    """Return the exact size of the pool that will be taken from all sources' items.

    Arguments as for :func:`benchc.sources.pool.task_types`, and raises what it and ``largest_cap`` raise.
    """
    counts = task_types(items, task_columns)["task"].value_counts()["count"].to_list()
    cap = largest_cap(counts, pool.per_task, pool.total)
    return Known(pool=sum(min(count, cap) for count in counts), pool_exact=True)


def known_from_items(items: PoolItems) -> Known:
    """Return what the pool says."""
    return Known(
        pool=len(items.options),
        pool_exact=True,
        pool_options=tuple(items.options.values()),
        pool_images=sum_of(image for id_ in items.options for image in items.images[id_]),
        pool_distinct=sum_of({image for id_ in items.options for image in items.images[id_]}),
    )


def pool_path(results: Path) -> Path:
    """Return the file of a run's pool."""
    return results / "pool/items.parquet"


def pool_items(results: Path) -> PoolItems | None:
    """Return the items of a run's pool; None where it is not made.

    Raises InputError, with the item's id, where an image's header cannot be read.
    """
    path = pool_path(results)
    if not path.exists():
        return None
    items = read_table(path, POOL, ["id", "options"])
    images = images_of(iterate_groups(path, POOL, "id", set(items["id"]), GROUPS_AT_ONCE))
    return PoolItems(dict(zip(items["id"], items["options"].list.len(), strict=True)), images)


def bytes_of(folder: Path, types: Iterable[str]) -> int | None:
    """Return what the images under these corruptions take in a folder; None unless all are written."""
    paths = [folder / f"{name}.parquet" for name in (CLEAN, *types)]
    return sum(path.stat().st_size for path in paths) if all(path.exists() for path in paths) else None


def images_of(items: Iterable[pl.DataFrame]) -> dict[str, list[Sized]]:
    """Return the images of each item by its id; the frames need id, images and image_keys.

    Only headers are read. Raises InputError, with the item's id, where a header cannot be read.
    """
    return {
        id_: [(key, _pixels(id_, image)) for key, image in zip(keys or (), images or (), strict=True)]
        for frame in items
        for id_, images, keys in frame.select("id", "images", "image_keys").iter_rows()
    }


def _pixels(id_: str, image: dict[str, bytes]) -> int:
    try:
        with warnings.catch_warnings():
            # Nothing is decoded here; the stages that decode refuse what is too large.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(image["bytes"])) as file:
                return file.width * file.height
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(
            f"item {id_}: the size of an image cannot be read ({error}); take the item out of its source"
        ) from error


def sum_of(images: Iterable[Sized]) -> Images:
    """Return how many images these are, and their megapixels together."""
    pixels = [size for _, size in images]
    return Images(len(pixels), sum(pixels) / 1e6)
