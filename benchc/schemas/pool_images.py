"""Read the item ids and the encoded images, with their keys, of a pool or of a subset of it."""

import hashlib
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path

from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.parquet import TableFile, iterate_groups, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.subset import SUBSET

# On what corrupted images, and on what predictions of a pool's items depend.
IMAGE_COLUMNS = ("image_keys", "images")
QUESTION_COLUMNS = ("id", "question", "hint", "options", *IMAGE_COLUMNS)

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
        id_ = row["id"][0]
        keys, files = (
            [] if cell is None else list(cell) for cell in (row["image_keys"][0], row["images"][0])
        )
        if len(keys) != len(files) or None in keys:
            raise InputError(
                f"{pool}: item {id_} has {len(files)} images and {len(keys)} keys; delete the pool and run "
                "snakemake again"
            )
        images = [(key, file["bytes"]) for key, file in zip(keys, files, strict=True)]
        for key, data in images:
            digest = hashlib.blake2b(data or b"", digest_size=16).digest()
            if digests.setdefault(key, digest) != digest:
                raise InputError(
                    f"{pool}: item {id_} and an earlier one have different images with the key {key!r}; give "
                    "the images different names in their source"
                )
        yield id_, images


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
