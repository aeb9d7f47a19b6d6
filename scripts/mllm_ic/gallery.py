"""Show one image of the pool under each corruption at each severity."""

from pathlib import Path

import polars as pl

from benchc.benchmarks.mllm_ic.schemas.gallery import GALLERY
from benchc.corruptions.recipe import CLEAN
from benchc.corruptions.variants import variants_of_image
from benchc.images import encode_png
from benchc.models.asking import ShownImages
from benchc.models.shown_images import image_footer
from benchc.pixels import Pixels
from benchc.rendering.example_image import example_image
from benchc.rendering.page_image import page_image
from benchc.schemas.parquet import write_table

LONGEST_SIDE = 320  # pixels: an inch in print


def gallery(*, pool: Path, images: ShownImages, output: Path) -> None:
    """Show one image of the pool under each corruption at each severity.

    It is the image that contact sheets show, with the pixels that models get for it.

    Args:
        pool: pool/items.parquet
        images: how they are generated
        output: gallery.parquet to write
    """
    alpha = images.alpha or "drop"
    key, clean = example_image(pool, alpha=alpha)
    rows = [(key, CLEAN, 0, _image(clean))]
    for name, recipe in images.recipes.items():
        if name != CLEAN:
            levels = sorted(recipe.severities)
            found = variants_of_image(key, encode_png(clean), recipe, levels, images.seed or 0, alpha)
            rows += [(key, name, level, _image(found[level])) for level in levels]
    table = pl.DataFrame(rows, schema=dict(GALLERY.columns), orient="row")
    write_table(table, output, GALLERY, image_footer(pool, images))


def _image(pixels: Pixels) -> dict[str, bytes | None]:
    return {"bytes": page_image(pixels, LONGEST_SIDE), "path": None}
