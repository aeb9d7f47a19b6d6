"""Apply every corruption of a run to one image, so that a missing library or file shows."""

from collections.abc import Iterator

import polars as pl

from benchc.checking.finding import Finding, reason
from benchc.config.settings import Corruptions
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.registry import recipe_of
from benchc.corruptions.variants import variants_of_image
from benchc.errors import InputError
from benchc.image_keys import NAMED
from benchc.pluralize import pluralize
from benchc.progress import track

STAGE = "corruptions"


def check_corruptions(
    chosen: Corruptions, seed: int, items: pl.DataFrame, *, generated: bool = False
) -> Iterator[Finding]:
    """Apply each corruption at its highest severity to the smallest file of ``items``, of type POOL.

    ``generated``: whether the items are not those of the run.
    """
    if not chosen.types:
        yield Finding(STAGE, "ok", "all", "no corruptions: images are clean")
        return
    images = items.select(key=pl.col("image_keys"), image=pl.col("images")).explode("key", "image")
    key, smallest = min(images.iter_rows(), key=lambda row: len(row[1]["bytes"]))
    suite = suite_with(chosen.suite, chosen.own_files)
    failed = 0
    for name in track(chosen.types, label="apply corruptions", unit="corruptions"):
        recipe = recipe_of(name, suite, chosen.engine)
        try:
            variants_of_image(key, smallest["bytes"], recipe, [max(chosen.severities)], seed, chosen.alpha)
        except (InputError, ImportError, OSError) as error:
            text = str(error) if isinstance(error, ImportError) else reason(error)
            yield Finding(STAGE, "error", name, text)
            failed += 1
    if not failed:
        origin = " and ".join((chosen.suite, *chosen.own_files))
        image = "a generated image" if generated else _in_words(key)
        text = f"{pluralize(len(chosen.types), 'corruption')} of {origin}, tried on {image}"
        yield Finding(STAGE, "ok", "all", text)


def _in_words(key: str) -> str:
    """Return the image of a key: `the image x.jpg of s`, or `image 1 of item s/7`."""
    if NAMED.match(key):
        source, _, name = key.partition("://")
        return f"the image {name} of {source}"
    item, _, index = key.rpartition("#")
    return f"image {int(index) + 1} of item {item}"
