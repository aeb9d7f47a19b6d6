"""The images that models are shown: of each item the clean image, and those under its corruptions."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from benchc.corruptions.recipe import CLEAN
from benchc.models.asking import ShownImages
from benchc.models.units import Recipes, unit_images, units_in
from benchc.pixels import Pixels
from benchc.schemas.footer import ImageFooter
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import IMAGE_COLUMNS, pool_digest


def shown_images(
    pool: Path, cells: pl.DataFrame, corrupted: Sequence[Path], images: ShownImages
) -> Iterator[tuple[str, str, int, Pixels]]:
    """Yield id, corruption, severity and the first image of each clean image and each of ``cells``.

    One corruption comes after the other, clean images (`clean`, severity 0) first. Items that share an image
    come together.

    Args:
        pool: pool/items.parquet.
        cells: ids, corruptions and severities, as in ASSIGNMENT.
        corrupted: corrupted/{corruption}.parquet; without, the images are generated.
        images: how they are generated: ``recipes``, with a seed.
    """
    wanted = set(cells["id"])
    keys = {
        id_: of_item
        for id_, of_item in read_table(pool, POOL, ["id", "image_keys"]).iter_rows()
        if id_ in wanted
    }
    stored = {path.stem: path for path in corrupted}
    clean = cells.select("id", corruption=pl.lit(CLEAN), severity=pl.lit(0, pl.Int64)).unique()
    for (corruption,), rows in pl.concat([clean, cells.select(clean.columns)]).group_by(
        "corruption", maintain_order=True
    ):
        name = str(corruption)
        levels = dict(rows.group_by("id").agg(pl.col("severity").sort()).iter_rows())
        source: Sequence[Path] | Recipes = (
            [stored[name]]
            if stored
            else Recipes([images.recipes[name]], images.seed or 0, images.alpha or "drop")
        )
        own = {id_: of_item for id_, of_item in keys.items() if id_ in levels}
        for unit in units_in(unit_images(pool, own, source, assignment={name: levels})):
            for severity, variant in zip(unit.severities, unit.variants, strict=True):
                yield unit.item, name, severity, variant[0]


def image_footer(pool: Path, images: ShownImages) -> ImageFooter:
    """Return the footer of a table about these images."""
    return ImageFooter(pool=pool_digest(pool, IMAGE_COLUMNS), seed=images.seed, alpha=images.alpha)
