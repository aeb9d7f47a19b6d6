"""Corrupt the images of a pool."""

from pathlib import Path

from benchc.command_line import PositiveInt, Seed
from benchc.corruptions.chunks import CorruptionSpec, write_corrupted
from benchc.corruptions.recipe import CLEAN, Recipe
from benchc.images import DEFAULT_CODEC, Codec
from benchc.schemas.assignment import read_assignment
from benchc.schemas.pool_images import (
    IMAGE_COLUMNS,
    image_levels,
    pool_digest,
    read_ids,
    unique_images,
    unique_keys,
)
from benchc.transparency import Alpha


def corrupt(
    *,
    pool: Path,
    subset: Path | None = None,
    assignment: Path | None = None,
    recipe: Recipe,
    seed: Seed,
    alpha: Alpha = "drop",
    codec: Codec = DEFAULT_CODEC,
    threads: PositiveInt = 1,
    output: Path,
) -> None:
    """Corrupt the images of a pool, or of a subset of it.

    The table has one row per image and severity of the recipe, in the order in which images first appear in
    the pool, then by severity; an image that items share is stored once. Its bytes do not depend on the
    number of processes. A killed job resumes from <output>.parts.

    Args:
        pool: pool/items.parquet
        subset: subsets/{subset}.parquet: only these items; default: the whole pool
        assignment: pool/assignment.parquet: only the images and severities of these rows; default: all
        seed: the run's
        alpha: how transparency is handled: discard the alpha channel, or composite over white
        codec: lossless format of the stored images; ppm takes three bytes a pixel and is the fastest
        threads: number of worker processes
        output: table to write
    """
    ids = set(read_ids(pool, subset))
    levels = None
    if assignment is not None and recipe.name != CLEAN:
        cells = read_assignment(assignment, {recipe.name: recipe.severities})[recipe.name]
        ids &= cells.keys()
        levels = image_levels(pool, ids, cells)
    images = unique_images(pool, ids)
    digest = pool_digest(pool, IMAGE_COLUMNS)
    spec = CorruptionSpec(recipe, seed, alpha, codec)
    write_corrupted(images, spec, output, threads, len(unique_keys(pool, ids)), digest, levels)
