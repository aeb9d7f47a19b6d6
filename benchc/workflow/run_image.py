"""The pixels of one image of a run, as its models see them."""

from pathlib import Path

from benchc.config.load import read_config
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.recipe import CLEAN
from benchc.corruptions.registry import recipe_of
from benchc.corruptions.variants import variants_of_image
from benchc.errors import InputError
from benchc.pixels import Pixels
from benchc.pluralize import pluralize
from benchc.schemas.pool_images import pool_images


def run_image(run: Path, item: str, corruption: str = CLEAN, severity: int = 0, index: int = 0) -> Pixels:
    """Return an image of a run under a corruption, uint8[H, W, 3], before any model's own processor.

    It is computed from the pool and from the run's recorded configuration, by the installed version and the
    user's files as they are now; a run need not have stored it, nor have used this corruption. Paths in the
    configuration are relative to the working directory.

    Args:
        run: results/{name}
        item: id of an item of the pool
        corruption: of the run's suite, or of the user's files; ``clean`` is the image itself
        severity: of the suite; 0 is the image itself under any corruption
        index: of the image, where the item has several; the first is 0

    Raises InputError where the run has no pool, no such item or image, or its suite no such corruption or
    severity; also where the image cannot be decoded.
    """
    record = run / "config.yaml"
    if not record.is_file():
        raise InputError(
            f"{run}: there is no config.yaml; give results/<name> of a run; "
            "`benchc run FILE configuration` writes it where a run has not finished"
        )
    settings = read_config(record).settings
    chosen = settings.corruptions
    recipe = settings.recipe(corruption, suite_with(chosen.suite, chosen.own_files))
    if severity == 0:
        recipe = recipe_of(CLEAN)
    elif severity not in recipe.severities:
        allowed = ", ".join(map(str, recipe.severities))
        has = "0, or a corruption" if corruption == CLEAN else f"one of {allowed}"
        raise InputError(f"{corruption} has no severity {severity}; give {has}")
    pool = run / "pool/items.parquet"
    images = next((images for _, images in pool_images(pool, {item})), None)
    if images is None:
        raise InputError(f"{pool}: there is no item {item!r}; its ids are in the column id")
    if not 0 <= index < len(images):
        raise InputError(
            f"{pool}: item {item!r} has {pluralize(len(images), 'image')}, counted from 0; none is {index}"
        )
    key, data = images[index]
    return variants_of_image(key, data, recipe, [severity], settings.seed, chosen.alpha)[severity]
