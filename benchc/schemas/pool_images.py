"""Read the item ids and the encoded images, with their keys, of a pool or of a subset of it."""

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import polars as pl

from benchc.errors import InputError
from benchc.image_keys import PIXELS
from benchc.pluralize import pluralize
from benchc.schemas.parquet import TableFile, iterate_groups, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.subset import SUBSET

# On what corrupted images, and on what predictions of a pool's items depend.
IMAGE_COLUMNS = ("image_keys", "images")
QUESTION_COLUMNS = ("id", "question", "hint", "options", *IMAGE_COLUMNS)

ITEMS_AT_ONCE = 16

EncodedImage = tuple[str, bytes | None]  # an image's key and its encoded bytes


def read_ids(pool: Path, subset: Path | None = None) -> list[str]:
    """Return the ids of the pool, or of a SUBSET of it, in the pool's order.

    Raises InputError where the subset has an item that the pool lacks.
    """
    ids: list[str] = read_table(pool, POOL, ["id"])["id"].to_list()
    if subset is None:
        return ids
    wanted = set(read_table(subset, SUBSET)["id"])
    absent = wanted.difference(ids)
    if absent:
        raise InputError(
            f"{subset}: {pluralize(len(absent), 'item')} not in {pool}, such as {min(absent)}; delete the "
            "subset and run snakemake again"
        )
    return [id_ for id_ in ids if id_ in wanted]


def pool_digest(pool: Path, columns: Sequence[str]) -> str:
    """Return a hash, 32 hexadecimal digits, of some of the pool's columns, without reading them."""
    with TableFile(pool, POOL) as file:
        hashes = file.hashes(columns)
    return hashlib.blake2b("\n".join(hashes).encode(), digest_size=16).hexdigest()


def pool_images(pool: Path, ids: Container[str]) -> Iterator[tuple[str, list[EncodedImage]]]:
    """Yield the id and the images of each item of ``ids``, in the pool's order, a few at a time.

    Raises InputError where an item has more or fewer keys than images, or two different images have one key.
    """
    digests: dict[str, bytes] = {}
    for row in iterate_groups(pool, POOL, "id", ids):
        id_, images = _images(pool, row)
        for key, data in images:
            if key.startswith(PIXELS):
                continue  # one image, maybe in several files
            digest = hashlib.blake2b(data or b"", digest_size=16).digest()
            if digests.setdefault(key, digest) != digest:
                raise InputError(
                    f"{pool}: item {id_} and an earlier one have different images with the key {key!r}; give "
                    "the images different names in their source"
                )
        yield id_, images


def images_of_groups(
    pool: Path, groups: Iterable[Mapping[str, Sequence[str]]]
) -> Iterator[dict[str, bytes | None]]:
    """Yield the encoded images of each group of items by their keys, which a group has by item id.

    Only the first item with an image is read, a few at a time. Raises InputError as :func:`pool_images`, but
    not for images of items that are not read.
    """
    with TableFile(pool, POOL) as file:
        rows = {id_: number for number, id_ in enumerate(file.columns(["id"])["id"])}
        first = ([rows[id_] for id_ in dict.fromkeys(_first_items(group).values())] for group in groups)
        while chunk := list(islice(first, ITEMS_AT_ONCE)):
            numbers = sorted({number for group in chunk for number in group})
            read = file.rows(numbers, ["id", "image_keys", "images"]).iter_slices(1) if numbers else ()
            images = {number: _images(pool, row)[1] for number, row in zip(numbers, read, strict=True)}
            for group in chunk:
                # In reverse, so that the first item with an image has it.
                yield dict(image for number in reversed(group) for image in images[number])


def _first_items(group: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the first item of ``group`` with each key."""
    found: dict[str, str] = {}
    for id_, keys in group.items():
        for key in keys:
            found.setdefault(key, id_)
    return found


def _images(pool: Path, row: pl.DataFrame) -> tuple[str, list[EncodedImage]]:
    """Return the id and the images of the item in ``row``."""
    id_ = row["id"][0]
    keys, files = ([] if cell is None else list(cell) for cell in (row["image_keys"][0], row["images"][0]))
    if len(keys) != len(files) or None in keys:
        raise InputError(
            f"{pool}: item {id_} has {len(files)} images and {len(keys)} keys; delete the pool and run "
            "snakemake again"
        )
    return id_, [(key, file["bytes"]) for key, file in zip(keys, files, strict=True)]


def unique_images(pool: Path, ids: Container[str]) -> Iterator[EncodedImage]:
    """Yield each image of :func:`pool_images` once, in the order of first appearance."""
    seen: set[str] = set()
    for _, images in pool_images(pool, ids):
        for key, data in images:
            if key not in seen:
                seen.add(key)
                yield key, data


def unique_keys(pool: Path, ids: Container[str]) -> list[str]:
    """Return the keys of :func:`unique_images`, without reading images."""
    rows = read_table(pool, POOL, ["id", "image_keys"]).iter_rows()
    return list(dict.fromkeys(key for id_, keys in rows if id_ in ids for key in keys or ()))


def image_levels(
    pool: Path, ids: Container[str], levels: Mapping[str, Sequence[int]]
) -> dict[str, list[int]]:
    """Return the severities at which each image of ``ids`` is shown, ascending, by its key.

    ``levels``: the severities of each item.
    """
    found: dict[str, set[int]] = {}
    for id_, keys in read_table(pool, POOL, ["id", "image_keys"]).iter_rows():
        for key in keys or () if id_ in ids else ():
            found.setdefault(key, set()).update(levels[id_])
    return {key: sorted(each) for key, each in found.items()}
