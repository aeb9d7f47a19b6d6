"""The size of a run: counted in the pool once it is built; before, bounded by its sources and settings."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchc.config.load import Config
from benchc.config.settings import Corruptions, Pool
from benchc.corruptions.recipe import CLEAN
from benchc.images import ImageError, opened
from benchc.planning.amounts import Amount, total
from benchc.planning.source_size import published_items, task_counts
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.parquet import TableError, iterate_groups, read_table
from benchc.schemas.pool import POOL

# Lossless WebP, mean over all corruptions and severities of photographs (docs/benchmarks.md).
BYTES_PER_PIXEL = 1.11
ITEMS_IN_MEMORY = 256
NONE = Amount(0)
# In a run's results.
POOL_FILE = "pool/items.parquet"
ASSIGNMENT_FILE = "pool/assignment.parquet"


@dataclass(frozen=True)
class RunSize:
    """The number of items in the pool and, once it is built, their options and images.

    ``options``: number of options by item id, 0 for an open-ended question. ``images``: one row per item and
    image, with the columns id, image_key and pixels. ``assignment``: of a benchmark that has one, the
    ASSIGNMENT table once it is there.
    """

    pool: Amount
    options: Mapping[str, int] | None = None
    images: pl.DataFrame | None = None
    assignment: pl.DataFrame | None = None


@dataclass(frozen=True)
class ImageCounts:
    """The images that a run writes: ``written`` in all variants, ``disk`` in bytes."""

    written: Amount
    disk: Amount


def run_size(config: Config, results: Path) -> RunSize:
    """Return the size of the run whose tables are in the folder ``results``.

    Before the pool is built, it is bounded by the items of the sources that are here, and by the published
    size of the others, as far as it is known. Raises
    TableError where the pool, an image in it, or a source's items cannot be read.
    """
    path = results / POOL_FILE
    if not path.exists():
        counts = {id_: task_counts(id_, source, results) for id_, source in config.sources.items()}
        others = total(published_items(config.sources[id_]) for id_, count in counts.items() if count is None)
        known = (count for count in counts.values() if count is not None)
        return RunSize(pool_bound(config.settings.pool, known, others))
    items = read_table(path, POOL, ["id", "options"])
    images = [
        (id_, key, _pixels(path, id_, image))
        for frame in iterate_groups(path, POOL, "id", set(items["id"]), ITEMS_IN_MEMORY)
        for id_, images, keys in frame.select("id", "images", "image_keys").iter_rows()
        for key, image in zip(keys or (), images or (), strict=True)
    ]
    options = dict(zip(items["id"], items["options"].list.len().fill_null(0), strict=True))
    schema = {"id": pl.String, "image_key": pl.String, "pixels": pl.Int64}
    frame = pl.DataFrame(images, schema=schema, orient="row")
    return RunSize(Amount(items.height), options, frame, assignment_of(results))


def assignment_of(results: Path) -> pl.DataFrame | None:
    """Return the ASSIGNMENT table in the folder ``results``; None where there is none."""
    path = results / ASSIGNMENT_FILE
    return read_table(path, ASSIGNMENT) if path.exists() else None


def pool_bound(pool: Pool, sources: Iterable[Mapping[str, int]], others: Amount = NONE) -> Amount:
    """Return a bound on the items of a pool, or an estimate where that of ``others`` is one.

    ``sources``: upper bounds on the items of sources by task type; ``others``: items of all other sources.
    """
    tasks: Counter[str] = Counter()
    for counts in sources:
        tasks.update(counts)
    bound = Amount(sum(min(count, pool.per_task or count) for count in tasks.values()), "at most")
    found = total([bound, others])
    if pool.total is not None and (found.value is None or found.value >= pool.total):
        return Amount(pool.total, "at most")
    return found


def _pixels(path: Path, id_: str, image: Mapping[str, bytes | None]) -> int:
    """Return the pixels of an image of an item; decodes its header alone."""
    try:
        with opened(image["bytes"] or b"") as file:
            return math.prod(file.size)
    except ImageError as error:
        raise TableError(
            f"{path}: an image of item {id_} cannot be read ({error}); delete it and run snakemake again"
        ) from error


def variants(corruptions: Corruptions) -> int:
    """Return the number of variants of an image: clean, and every corruption at every severity."""
    return 1 + len(corruptions.types) * len(corruptions.severities)


def image_counts(
    images: pl.DataFrame | None,
    corruptions: Corruptions,
    folder: Path,
    share: float = 1,
    assignment: pl.DataFrame | None = None,
) -> ImageCounts:
    """Return how many corrupted images of ``images`` (see RunSize) are written to ``folder``.

    An image that several items show is written once. ``share`` below 1 is the estimated share of the images
    that is written; with an ``assignment``, its images and all clean ones are. Disk space is measured once
    all files exist, and estimated before.
    """
    written = disk = Amount(None)
    if images is not None and assignment is not None:
        ours = assignment.filter(pl.col("corruption").is_in(corruptions.types))
        shown = images.join(ours, on="id").unique(["image_key", "corruption", "severity"])
        both = pl.concat([images.unique("image_key")["pixels"], shown["pixels"]])
        written, disk = Amount(len(both)), Amount(int(both.sum()) * BYTES_PER_PIXEL, "estimate")
    elif images is not None:
        distinct, number = images.unique("image_key"), variants(corruptions)
        written = Amount(round(distinct.height * share) * number, "exact" if share == 1 else "estimate")
        disk = Amount(int(distinct["pixels"].sum()) * share * number * BYTES_PER_PIXEL, "estimate")
    files = [folder / f"{name}.parquet" for name in (CLEAN, *corruptions.types)]
    if all(file.exists() for file in files):
        disk = Amount(sum(file.stat().st_size for file in files))
    return ImageCounts(written, disk)
