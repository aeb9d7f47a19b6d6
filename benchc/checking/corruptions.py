"""Apply every corruption of a run to one image, so that a missing library or file shows."""

from collections.abc import Iterator

import polars as pl

from benchc.checking.finding import Finding, reason
from benchc.config.settings import Corruptions
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.registry import recipe_of
from benchc.corruptions.variants import variants_of_image
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.progress import track

STAGE = "corruptions"


def check_corruptions(chosen: Corruptions, seed: int, items: pl.DataFrame) -> Iterator[Finding]:
    """Apply each corruption at its highest severity to the smallest file of ``items``, of type POOL."""
    images = items.select(key=pl.col("image_keys"), image=pl.col("images")).explode("key", "image")
    key, image = min(images.iter_rows(), key=lambda row: len(row[1]["bytes"]))
    suite = suite_with(chosen.suite, chosen.own_files)
    failed = 0
    for name in track(chosen.types, label="apply corruptions", unit="corruptions"):
        recipe = recipe_of(name, suite, chosen.engine)
        try:
            variants_of_image(key, image["bytes"], recipe, [max(chosen.severities)], seed, chosen.alpha)
        except (InputError, ImportError, OSError) as error:
            text = str(error) if isinstance(error, ImportError) else reason(error)
            yield Finding(STAGE, "error", name, text)
            failed += 1
    if not failed:
        origin = " and ".join((chosen.suite, *chosen.own_files))
        text = f"{pluralize(len(chosen.types), 'corruption')} of {origin}, applied to {key}"
        yield Finding(STAGE, "ok", "all", text)
