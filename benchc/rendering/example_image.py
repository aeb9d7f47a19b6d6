"""The image that shows what corruptions do: of a pool, or a file."""

from pathlib import Path

import numpy as np

from benchc.errors import InputError
from benchc.image_keys import derived_key
from benchc.images import ImageError, decode
from benchc.pixels import Pixels
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import pool_images
from benchc.transparency import Alpha

# The default item is chosen among the first CANDIDATES items, from images of at least SIDE pixels a side.
SIDE = 128
CANDIDATES = 100


def example_image(pool: Path, item: str | None = None, alpha: Alpha = "drop") -> tuple[str, Pixels]:
    """Return the key of an item's first image, and its pixels, uint8[H, W, 3].

    ``item``: its id. By default, the pool alone decides: among the first ``CANDIDATES`` items, of those with
    an image of at least ``SIDE`` pixels a side, the one whose image has the largest :func:`colour_entropy`;
    where all are smaller, the largest image; the first of equal ones. Raises InputError where there is no
    such item, or its image cannot be decoded.
    """
    ids = read_table(pool, POOL, ["id"])["id"]
    if item is not None and item not in ids:
        raise InputError(f"{pool}: there is no item {item!r}; the first is {next(iter(ids), None)!r}")
    best: tuple[tuple[bool, float], str, Pixels] | None = None
    wanted = {item} if item is not None else set(ids.head(CANDIDATES))
    for id_, images in pool_images(pool, wanted):
        if not images:
            continue
        key, data = images[0]
        try:
            pixels = decode(data or b"", alpha)
        except ImageError as error:
            raise InputError(f"{pool}: item {id_!r}: {error}; fix it, or give another --item") from error
        large = min(pixels.shape[:2]) >= SIDE
        merit = (large, colour_entropy(pixels) if large else float(pixels.size))
        if best is None or merit > best[0]:
            best = merit, key, pixels
    if best is None:
        raise InputError(f"{pool}: there are no items with an image; run snakemake pool again")
    return best[1:]


def colour_entropy(image: Pixels) -> float:
    """Return the entropy of the colours of ``image``, uint8[H, W, 3], in bits, in [0, 9].

    Colours are cells of 32 values in each channel. It is high where tones and colours are many and none
    prevails, so that a change of brightness, contrast or saturation shows, and low on a white page.
    """
    cells = (image >> 5).astype(np.int64) @ [64, 8, 1]
    shares = np.bincount(cells.ravel(), minlength=512) / cells.size
    found = shares[shares > 0]
    return float(-(found * np.log2(found)).sum())


def image_in_file(file: Path, alpha: Alpha = "drop") -> tuple[str, Pixels]:
    """Return the key of the image in a file, and its pixels, uint8[H, W, 3].

    Raises InputError where it cannot be read or decoded.
    """
    try:
        return derived_key(file.name, 0), decode(file.read_bytes(), alpha)
    except (OSError, ImageError) as error:
        raise InputError(f"{file}: {error}; give another --image") from error
