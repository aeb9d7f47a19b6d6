"""Read the corrupted images of items from a CORRUPTED table, by their keys."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import polars as pl

from benchc.errors import InputError
from benchc.images import ImageError, decode
from benchc.pixels import Pixels
from benchc.pluralize import pluralize
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.parquet import REMAKE, TableError, TableFile, read_footer
from benchc.schemas.pool_images import IMAGE_COLUMNS, pool_digest

ITEMS_AT_ONCE = 16

StoredImage = tuple[str, dict[int, bytes]]  # an image's key and its encoded bytes by severity


def check_corrupted(
    paths: Iterable[Path], pool: Path, recipes: Mapping[str, object], facts: Mapping[str, object]
) -> dict[str, object]:
    """Return the seed and alpha of files of corrupted images, {corruption}.parquet, as their footers say.

    ``recipes``: those that the files must have, as JSON content by corruption; ``facts``: the seed and alpha
    that they must have. Raises TableError where a footer says that the images are under another corruption
    than the file's name, of another pool, or made with another recipe, seed or alpha than these or those of
    the files before. A footer without such facts is of a file that no stage wrote.
    """
    of_pool = pool_digest(pool, IMAGE_COLUMNS)
    found = dict(facts)
    for path in paths:
        footer = read_footer(path)
        recipe = footer.get("recipe")
        corruption = recipe.get("name") if isinstance(recipe, dict) else path.stem
        if corruption != path.stem:
            raise TableError(f"{path}: its images are under {corruption}, so it was moved; {REMAKE}")
        if footer.get("pool", of_pool) != of_pool:
            raise TableError(f"{path}: its images are not those of {pool}, so it is of another run; {REMAKE}")
        if recipe is not None and _without_code(recipes.get(corruption, recipe)) != _without_code(recipe):
            raise TableError(f"{path}: {corruption} had other parameters when it was made; {REMAKE}")
        for name in ("seed", "alpha"):
            if name in footer and found.setdefault(name, footer[name]) != footer[name]:
                raise TableError(
                    f"{path}: its {name} is {footer[name]}, that of the run is {found[name]}; {REMAKE}"
                )
    return found


def _without_code(recipe: object) -> object:
    # Of a user's file: after a harmless edit, snakemake --touch accepts the images that are there.
    return {**recipe, "code": None} if isinstance(recipe, dict) else recipe


def images_of_items(
    path: Path, keys: Mapping[str, Sequence[str]], severities: Container[int] | None = None
) -> Iterator[tuple[str, dict[int, list[Pixels]]]]:
    """Yield each item's id and its images, uint8[H, W, 3] each, by severity, in the order of ``keys``.

    Arguments and errors as for :func:`encoded_images`, and InputError where an image cannot be decoded.
    """
    # Items that share an image are usually adjacent; it is then decoded once.
    pixels: dict[str, dict[int, Pixels]] = {}
    for id_, images in encoded_images(path, keys, severities):
        pixels = {key: pixels[key] if key in pixels else decoded(path, key, files) for key, files in images}
        levels = list(images[0][1])
        yield id_, {severity: [pixels[key][severity] for key, _ in images] for severity in levels}


def encoded_images(
    path: Path,
    keys: Mapping[str, Sequence[str]],
    severities: Container[int] | None = None,
    at_once: int = ITEMS_AT_ONCE,
    assigned: Mapping[str, Sequence[int]] | None = None,
) -> Iterator[tuple[str, list[StoredImage]]]:
    """Yield each item's id and its images as they are stored, in the order of ``keys``.

    ``path``: a CORRUPTED table, in any order; ``keys``: the keys of each item's images by item id;
    ``severities``: which to read, None for all; ``at_once``: the items whose images are in memory;
    ``assigned``: the severities of each item, of those that are shown at all, None for all. Raises
    InputError, before the first item, where the table lacks images of an item; TableError as ``TableFile``
    does.
    """
    with TableFile(path, CORRUPTED) as file:
        rows = _rows(path, file, severities)
        shown = {id_: _levels(id_, of_item, rows, severities, assigned) for id_, of_item in keys.items()}
        wanted = {id_: levels for id_, levels in shown.items() if levels or assigned is None}
        lacking = [id_ for id_, levels in wanted.items() if not _complete(keys[id_], levels, rows, assigned)]
        if lacking:
            raise InputError(
                f"{path}: images of {pluralize(len(lacking), 'item')} missing, first {lacking[0]}; "
                "delete the file and run snakemake again"
            )
        iterator = iter(wanted.items())
        while chunk := list(islice(iterator, at_once)):
            numbers = {rows[key][level] for id_, levels in chunk for key in keys[id_] for level in levels}
            images = file.rows(sorted(numbers), ["image"])["image"].struct.field("bytes")
            files = dict(zip(sorted(numbers), images, strict=True))
            for id_, levels in chunk:
                yield id_, [(key, {level: files[rows[key][level]] for level in levels}) for key in keys[id_]]


def decoded(path: Path, key: str, files: Mapping[int, bytes]) -> dict[int, Pixels]:
    """Return the images of a key by severity; raises InputError, with its file, where one is damaged."""
    try:
        return {severity: decode(data) for severity, data in files.items()}
    except ImageError as error:
        raise InputError(f"{path}: image {key}: {error}; delete the file and run snakemake again") from error


def _rows(path: Path, file: TableFile, severities: Container[int] | None) -> dict[str, dict[int, int]]:
    """Return the row number of every image by key and severity, the severities in the file's order."""
    index = file.columns(["image_key", "severity"]).with_row_index("row")
    repeated = index.filter(pl.struct("image_key", "severity").is_duplicated())
    if repeated.height:
        raise TableError(
            f"{path}: image {repeated['image_key'][0]} occurs twice at one severity; "
            "delete the file and run snakemake again"
        )
    if severities is not None:
        index = index.filter([severity in severities for severity in index["severity"]])
    images = index.group_by("image_key").agg("severity", "row")
    return {key: dict(zip(levels, numbers, strict=True)) for key, levels, numbers in images.iter_rows()}


def _levels(
    id_: str,
    keys: Sequence[str],
    rows: Mapping[str, Mapping[int, int]],
    severities: Container[int] | None,
    assigned: Mapping[str, Sequence[int]] | None,
) -> list[int]:
    """Return the severities of an item: those that it is assigned, or else those of its first image."""
    if assigned is None:
        return [*rows.get(keys[0], ())] if keys else []
    return wanted_levels(assigned.get(id_, ()), severities)


def wanted_levels(levels: Iterable[int], severities: Container[int] | None) -> list[int]:
    """Return those of ``levels`` that are in ``severities``; all, where these are None."""
    return [level for level in levels if severities is None or level in severities]


def _complete(
    keys: Sequence[str],
    levels: Sequence[int],
    rows: Mapping[str, Mapping[int, int]],
    assigned: Mapping[str, Sequence[int]] | None,
) -> bool:
    """Return whether all images of an item are there at its severities, and unless assigned at no other."""
    found = [rows.get(key, {}).keys() for key in keys]
    same = [own >= {*levels} if assigned is not None else own == {*levels} for own in found]
    return bool(keys) and bool(levels) and all(same)
