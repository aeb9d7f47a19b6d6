"""Import the images of one corruption that another program made, or that were photographed."""

import sys
from pathlib import Path

from benchc.corruptions.imported import write_imported
from benchc.corruptions.recipe import Recipe
from benchc.images import DEFAULT_CODEC, Codec
from benchc.pluralize import pluralize
from benchc.schemas.assignment import read_assignment
from benchc.transparency import Alpha


def import_images(
    *,
    pool: Path,
    images: Path,
    assignment: Path | None = None,
    recipe: Recipe,
    photographed: bool = False,
    alpha: Alpha = "drop",
    codec: Codec = DEFAULT_CODEC,
    output: Path,
) -> None:
    """Write the images of one corruption that another program made as corrupted/{corruption}.parquet.

    An image must have the size of the item's own, unless both were photographed.

    Args:
        pool: pool/items.parquet, whose items have one image each
        images: table of type "imported images": id, corruption, severity and image
        assignment: pool/assignment.parquet: only the images of these rows; default: all items and severities
        photographed: whether the images are photographs, which may have another size
        alpha: how transparency is handled: discard the alpha channel, or composite over white
        codec: lossless format of the stored images; ppm takes three bytes a pixel and is the fastest
        output: table to write
    """
    cells = None
    if assignment is not None:
        cells = read_assignment(assignment, {recipe.name: recipe.severities})[recipe.name]
    resized = write_imported(
        images,
        pool,
        recipe,
        output,
        photographed=photographed,
        assigned=cells,
        alpha=alpha,
        codec=codec,
    )
    if resized:
        text = f"{recipe.name}: {pluralize(resized, 'photograph')} of another size than the item's own image"
        print(text, file=sys.stderr)
