"""The image that shows what corruptions do: of a pool, or a file."""

from pathlib import Path

from benchc.errors import InputError
from benchc.image_keys import derived_key
from benchc.images import ImageError, decode
from benchc.pixels import Pixels
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import pool_images
from benchc.transparency import Alpha

# The default item is the first with an image of at least SIDE pixels a side among the first CANDIDATES items.
SIDE = 200
CANDIDATES = 50


def example_image(pool: Path, item: str | None = None, alpha: Alpha = "drop") -> tuple[str, Pixels]:
    """Return the key of an item's first image, and its pixels, uint8[H, W, 3].

    ``item``: its id; by default, the first with at least ``SIDE`` pixels a side among the first
    ``CANDIDATES`` items, or else the one with the largest image. Raises InputError where there is no such
    item, or its image cannot be decoded.
    """
    ids = read_table(pool, POOL, ["id"])["id"]
    if item is not None and item not in ids:
        raise InputError(f"{pool}: there is no item {item!r}; the first is {next(iter(ids), None)!r}")
    largest: tuple[str, Pixels] | None = None
    wanted = {item} if item is not None else set(ids.head(CANDIDATES))
    for id_, images in pool_images(pool, wanted):
        key, data = images[0]
        try:
            pixels = decode(data or b"", alpha)
        except ImageError as error:
            raise InputError(f"{pool}: item {id_!r}: {error}; fix it, or give another --item") from error
        if min(pixels.shape[:2]) >= SIDE:
            return key, pixels
        if largest is None or pixels.size > largest[1].size:
            largest = key, pixels
    if largest is None:
        raise InputError(f"{pool}: there are no items; run snakemake pool again")
    return largest


def image_in_file(file: Path, alpha: Alpha = "drop") -> tuple[str, Pixels]:
    """Return the key of the image in a file, and its pixels, uint8[H, W, 3].

    Raises InputError where it cannot be read or decoded.
    """
    try:
        return derived_key(file.name, 0), decode(file.read_bytes(), alpha)
    except (OSError, ImageError) as error:
        raise InputError(f"{file}: {error}; give another --image") from error
