"""Write images that another program corrupted, or that were photographed, as those of one corruption."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from benchc.corruptions.chunks import IMAGE_BYTES, library_versions
from benchc.corruptions.recipe import Recipe
from benchc.errors import InputError
from benchc.images import DEFAULT_CODEC, Codec, ImageError, decode, encode
from benchc.pixels import Pixels
from benchc.pluralize import pluralize
from benchc.schemas.corrupted import CORRUPTED, CorruptedFooter
from benchc.schemas.imported_images import IMPORTED_IMAGES
from benchc.schemas.parquet import TableFile
from benchc.schemas.pool_images import IMAGE_COLUMNS, pool_digest, pool_images, read_ids
from benchc.schemas.row_groups import table_writer
from benchc.transparency import Alpha


def write_imported(
    images: Path,
    pool: Path,
    recipe: Recipe,
    output: Path,
    *,
    photographed: bool = False,
    assigned: Mapping[str, Sequence[int]] | None = None,
    alpha: Alpha = "drop",
    codec: Codec = DEFAULT_CODEC,
) -> int:
    """Write ``output``, a CORRUPTED table with the images of ``recipe`` that an IMPORTED_IMAGES table has.

    Args:
        images: the IMPORTED_IMAGES table; images of items that the pool lacks are left out.
        pool: the POOL table, in whose order the rows are.
        recipe: the corruption and its severities.
        photographed: whether an image may have another size than the item's own.
        assigned: the severities of each item that is shown; None: all items at all severities.

    Returns the number of images of another size. Raises InputError, naming item and severity, for an image
    that is absent, twice there, damaged, or of another size, and for an item without or with several images.
    """
    if not images.is_file():
        raise InputError(f"{images}: is not here; put the file with the images there")
    ids = read_ids(pool)
    wanted = {id_: recipe.severities if assigned is None else assigned.get(id_, ()) for id_ in ids}
    resized = 0
    written: dict[tuple[str, int], bytes] = {}
    with TableFile(images, IMPORTED_IMAGES) as file:
        rows = _rows(images, file, recipe, wanted)
        footer = CorruptedFooter(
            recipe=recipe.content(),
            alpha=alpha,
            codec=codec,
            libraries=library_versions(),
            pool=pool_digest(pool, IMAGE_COLUMNS),
            imported=hashlib.blake2b(
                "\n".join(file.hashes([*IMPORTED_IMAGES.columns])).encode(), digest_size=16
            ).hexdigest(),
        )
        with table_writer(output, CORRUPTED, IMAGE_BYTES, footer) as writer:
            for id_, own in pool_images(pool, rows):
                if len(own) != 1:
                    raise InputError(
                        f"{pool}: item {id_} has {len(own)} images, but imported images are of items with "
                        "one; remove the item from its source"
                    )
                ((key, data),) = own
                size = decode(data or b"", alpha).shape
                for severity, number in rows[id_].items():
                    what = f"{images}: the image of {_named(id_, recipe.name, severity)}"
                    file_bytes = file.rows([number], ["image"])["image"].struct.field("bytes").item() or b""
                    digest = hashlib.blake2b(file_bytes).digest()
                    if (key, severity) in written:
                        if written[key, severity] != digest:
                            raise InputError(
                                f"{what} is not that of an earlier item with the same own image ({key}); "
                                "give the images different names in their source"
                            )
                        continue
                    written[key, severity] = digest
                    try:
                        pixels = decode(file_bytes, alpha)
                    except ImageError as error:
                        raise InputError(f"{what}: {error}; replace it") from error
                    if pixels.shape != size:
                        if not photographed:
                            raise InputError(
                                f"{what} has {_size(pixels.shape)} pixels, but the item's own has "
                                f"{_size(size)}; give both one size"
                            )
                        resized += 1
                    writer.append(_frame(key, severity, pixels, codec))
    return resized


def _rows(
    images: Path, file: TableFile, recipe: Recipe, wanted: Mapping[str, Sequence[int]]
) -> dict[str, dict[int, int]]:
    """Return the numbers of the rows of ``wanted`` images by item and severity, both in its order."""
    index = file.columns(["id", "corruption", "severity"]).with_row_index("row")
    found: dict[tuple[str, int], int] = {}
    for number, id_, _, severity in index.filter(pl.col("corruption") == recipe.name).iter_rows():
        if found.setdefault((id_, severity), number) != number:
            raise InputError(f"{images}: {_named(id_, recipe.name, severity)} is there twice; remove one row")
    cells = [(id_, severity) for id_, levels in wanted.items() for severity in levels]
    if absent := [cell for cell in cells if cell not in found]:
        raise InputError(
            f"{images}: {pluralize(len(absent), 'image')} absent, first that of "
            f"{_named(absent[0][0], recipe.name, absent[0][1])}; add them, or remove the items from the run"
        )
    rows: dict[str, dict[int, int]] = {}
    for id_, severity in cells:
        rows.setdefault(id_, {})[severity] = found[id_, severity]
    return rows


def _named(id_: str, corruption: str, severity: int) -> str:
    return f"item {id_} under {corruption} at severity {severity}"


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[1]:,} × {shape[0]:,}"


def _frame(key: str, severity: int, pixels: Pixels, codec: Codec) -> pl.DataFrame:
    row = (key, severity, {"bytes": encode(pixels, codec), "path": None})
    return pl.DataFrame([row], schema=pl.Schema(CORRUPTED.columns), orient="row")
