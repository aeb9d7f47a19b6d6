"""What is known of a run before it is made: counted in the tables that it has so far, or bounded."""

import io
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from PIL import Image

from benchc.config.settings import Pool
from benchc.errors import InputError
from benchc.randomness import seed_of
from benchc.sources.pool import largest_cap, task_types


@dataclass(frozen=True)
class Images:
    """How many images some items have, and how many megapixels these have together."""

    count: int
    megapixels: float


Sized = tuple[str, int]  # an image's key and pixels


@dataclass(frozen=True)
class Known:
    """Sizes of a run. What is None is not known yet.

    ``pool`` is the number of items of the pool; where ``pool_exact`` is false it has at most so many.
    ``kept`` is the size of the benchmark. ``pool_options`` holds the number of options of every item of the
    pool, ``kept_options`` that of every item of the benchmark, in the order in which
    diagnostics.option_order takes them. ``pool_images`` and ``kept_images`` count an image once for every
    item that shows it, ``pool_distinct`` and ``kept_distinct`` once in all. ``corrupted_bytes`` is what the
    corrupted images take, where all are written.
    """

    pool: int | None = None
    pool_exact: bool = False
    kept: int | None = None
    pool_options: tuple[int, ...] | None = None
    kept_options: tuple[int, ...] | None = None
    pool_images: Images | None = None
    kept_images: Images | None = None
    pool_distinct: Images | None = None
    kept_distinct: Images | None = None
    corrupted_bytes: int | None = None


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


def known_from_tables(
    pool: pl.DataFrame, images: Mapping[str, Sequence[Sized]], selected: pl.DataFrame | None
) -> Known:
    """Return what the pool, and the selection where it is made, say.

    ``pool`` needs id and options, ``selected`` id and kept; ``images`` has those of every item of the pool.
    """
    options = dict(zip(pool["id"], pool["options"].list.len(), strict=True))
    kept = None if selected is None else [id_ for id_ in selected.filter("kept")["id"] if id_ in options]
    # As in benchc/benchmarks/bench_c/selection/option_orders.py, which loads torch.
    asked = None if kept is None else sorted(kept, key=lambda id_: (seed_of("option order", id_), id_))
    return Known(
        pool=pool.height,
        pool_exact=True,
        kept=None if kept is None else len(kept),
        pool_options=tuple(options.values()),
        kept_options=None if asked is None else tuple(options[id_] for id_ in asked),
        pool_images=_sum(image for id_ in options for image in images[id_]),
        kept_images=None if kept is None else _sum(image for id_ in kept for image in images[id_]),
        pool_distinct=_sum({image for id_ in options for image in images[id_]}),
        kept_distinct=None if kept is None else _sum({image for id_ in kept for image in images[id_]}),
    )


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


def _sum(images: Iterable[Sized]) -> Images:
    pixels = [size for _, size in images]
    return Images(len(pixels), sum(pixels) / 1e6)
