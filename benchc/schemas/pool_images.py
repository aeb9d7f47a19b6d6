"""The items of a pool or of a subset of it, and their images as they are stored, with their keys."""

import hashlib
from collections.abc import Container, Iterator
from pathlib import Path

from benchc.errors import InputError
from benchc.schemas.parquet import iterate_groups, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.subset import SUBSET

Encoded = tuple[str, bytes | None]  # an image's key and its file


def read_ids(pool: Path, subset: Path | None = None) -> list[str]:
    """Return the ids of the pool, or of a SUBSET of it, in the pool's order.

    Raises InputError where the subset holds an item that is not in the pool.
    """
    ids: list[str] = read_table(pool, POOL, ["id"])["id"].to_list()
    if subset is None:
        return ids
    wanted = set(read_table(subset, SUBSET)["id"])
    absent = wanted.difference(ids)
    if absent:
        raise InputError(
            f"{subset}: {len(absent)} items are not in {pool}, such as {min(absent)}; delete the "
            "subset and make it again"
        )
    return [id_ for id_ in ids if id_ in wanted]


def pool_images(pool: Path, ids: Container[str]) -> Iterator[tuple[str, list[Encoded]]]:
    """Yield the id and the images of each wanted item, in the pool's order, a few items in memory.

    Raises InputError where an item has not one key an image, or a key stands for two different images.
    """
    digests: dict[str, bytes] = {}
    for row in iterate_groups(pool, POOL, "id", ids):
        id_ = row["id"][0]
        keys, files = (
            [] if cell is None else list(cell) for cell in (row["image_keys"][0], row["images"][0])
        )
        if len(keys) != len(files) or None in keys:
            raise InputError(
                f"{pool}: item {id_} has {len(files)} images and {len(keys)} keys; delete the pool and make "
                "it again"
            )
        images = [(key, file["bytes"]) for key, file in zip(keys, files, strict=True)]
        for key, data in images:
            digest = hashlib.blake2b(data or b"", digest_size=16).digest()
            if digests.setdefault(key, digest) != digest:
                raise InputError(
                    f"{pool}: item {id_} has another image under the key {key!r} than an earlier one; give "
                    "the two images two names in their source"
                )
        yield id_, images


def unique_images(pool: Path, ids: Container[str]) -> Iterator[Encoded]:
    """Yield every image of the wanted items once, in the order of first appearance; raises likewise."""
    seen: set[str] = set()
    for _, images in pool_images(pool, ids):
        for key, data in images:
            if key not in seen:
                seen.add(key)
                yield key, data


def unique_keys(pool: Path, ids: Container[str]) -> list[str]:
    """Return the keys of :func:`unique_images`, without reading an image."""
    rows = read_table(pool, POOL, ["id", "image_keys"]).iter_rows()
    return list(dict.fromkeys(key for id_, keys in rows if id_ in ids for key in keys or ()))
