"""Pairs of a reference and a distorted image, as figures show them."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchc.benchmarks.r_bench.dimensions import dimension
from benchc.benchmarks.r_bench.schemas.pairs import PAIRS
from benchc.benchmarks.r_bench.tasks import TASKS
from benchc.corruptions.apply import apply
from benchc.corruptions.recipe import CLEAN
from benchc.corruptions.variants import noise_seed
from benchc.models.asking import ShownImages
from benchc.models.shown_images import shown_images
from benchc.randomness import seed_of
from benchc.rendering.example_image import example_image
from benchc.rendering.page_image import page_image

LONGEST_SIDE = 512  # pixels: 99 pairs are a page of about 10 MB


def chosen_pairs(cells: pl.DataFrame, number: int, seed: int) -> pl.DataFrame:
    """Return ``number`` rows of ``cells`` (id, corruption, severity, task), or all where there are fewer.

    The first of each dimension and task comes first, then the second of each, in the order of a hash, so
    that neither models nor scores decide what is shown.
    """
    return (
        _hashed(cells, seed)
        .with_columns(turn=pl.int_range(pl.len()).over("corruption", "task"))
        .sort("turn", "hash")
        .head(number)
        .with_columns(number=_numbers(pl.col("corruption")))
        .sort("number", "severity", "hash")
        .drop("turn", "number", "hash")
    )


def pairs_of(pool: Path, cells: pl.DataFrame, corrupted: Sequence[Path], images: ShownImages) -> pl.DataFrame:
    """Return the PAIRS table of ``cells`` (id, corruption, severity, task), in their order."""
    shown = pl.DataFrame(
        [
            (id_, corruption, severity, _image(page_image(image, LONGEST_SIDE)))
            for id_, corruption, severity, image in shown_images(pool, cells, corrupted, images)
        ],
        schema={name: PAIRS.columns[name] for name in ("id", "corruption", "severity")}
        | {"distorted": PAIRS.columns["distorted"]},
        orient="row",
    )
    clean = shown.filter(corruption=CLEAN).select("id", reference="distorted")
    found = cells.join(clean, on="id", maintain_order="left").join(
        shown, on=["id", "corruption", "severity"], maintain_order="left"
    )
    return found.select(*PAIRS.columns)


def gallery_of_image(pool: Path, images: ShownImages) -> pl.DataFrame:
    """Return the PAIRS table of one image of the pool under each dimension, at the highest strength."""
    key, clean = example_image(pool, alpha=images.alpha or "drop")
    reference = _image(page_image(clean, LONGEST_SIDE))
    rows = []
    for name, recipe in images.recipes.items():
        if name != CLEAN:
            severity = max(recipe.severities)
            image = apply(recipe, clean, severity, noise_seed(recipe, images.seed or 0, key, severity))
            rows.append((key, TASKS[0], name, severity, reference, _image(page_image(image, LONGEST_SIDE))))
    return pl.DataFrame(rows, schema=dict(PAIRS.columns), orient="row").sort(_numbers(pl.col("corruption")))


def gallery_of_pairs(
    pool: Path, cells: pl.DataFrame, corrupted: Sequence[Path], images: ShownImages, seed: int
) -> pl.DataFrame:
    """Return the PAIRS table of one of ``cells`` of each dimension: the first by a hash of the strongest."""
    strongest = cells.filter(severity=pl.col("severity").max().over("corruption"))
    first = _hashed(strongest, seed).sort("hash").unique("corruption", keep="first", maintain_order=True)
    return pairs_of(pool, first.drop("hash"), corrupted, images).sort(_numbers(pl.col("corruption")))


def _hashed(cells: pl.DataFrame, seed: int) -> pl.DataFrame:
    keys = cells.select("id", "corruption", "severity").iter_rows()
    order = [seed_of(seed, "pair", *key) for key in keys]
    return cells.with_columns(hash=pl.Series(order, dtype=pl.UInt64)).sort("hash")


def _numbers(names: pl.Expr) -> pl.Expr:
    return names.map_elements(lambda name: dimension(name).number, return_dtype=pl.Int64)


def _image(data: bytes) -> dict[str, bytes | None]:
    return {"bytes": data, "path": None}
