"""Apply every corruption of a run to images, so that a missing library or file shows, and time them."""

from collections.abc import Mapping

import polars as pl

from benchc.checking.finding import Finding, Findings, reason
from benchc.checking.image_time import ImageTime, images_of, time_of_images
from benchc.config.settings import Corruptions
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.variants import variants_of_image
from benchc.errors import InputError
from benchc.image_keys import NAMED, PIXELS
from benchc.pluralize import pluralize
from benchc.progress import track

STAGE = "corruptions"


def check_corruptions(
    chosen: Corruptions,
    seed: int,
    items: pl.DataFrame,
    *,
    generated: bool = False,
    drawn: pl.DataFrame | None = None,
) -> Findings[ImageTime | None]:
    """Apply each corruption at its highest severity to the smallest file of ``items``, of type POOL.

    ``generated``: whether the items are not those of the run. Returns the time of the images of ``drawn``,
    items as ``items``; None without these, and after an error.
    """
    timed = {} if drawn is None else images_of(drawn)
    if not chosen.types:
        yield Finding(STAGE, "ok", "all", "no corruptions: images are clean")
        return (yield from _timed(chosen, seed, timed))
    key, smallest = min(images_of(items).items(), key=lambda image: len(image[1]))
    suite = suite_with(chosen.suite, chosen.own_files)
    failed = 0
    for name in track(chosen.types, label="apply corruptions", unit="corruptions"):
        recipe = chosen.recipe(name, suite)
        try:
            variants_of_image(key, smallest, recipe, [max(chosen.severities)], seed, chosen.alpha)
        except (InputError, ImportError, OSError) as error:
            text = str(error) if isinstance(error, ImportError) else reason(error)
            yield Finding(STAGE, "error", name, text)
            failed += 1
    if not failed:
        origin = " and ".join((chosen.suite, *chosen.own_files))
        image = "a generated image" if generated else _in_words(key)
        text = f"{pluralize(len(chosen.types), 'corruption')} of {origin}, tried on {image}"
        yield Finding(STAGE, "ok", "all", text)
    return None if failed else (yield from _timed(chosen, seed, timed))


def _timed(chosen: Corruptions, seed: int, images: Mapping[str, bytes]) -> Findings[ImageTime | None]:
    try:
        return time_of_images(chosen, seed, images) if images else None
    except InputError as error:
        yield Finding(STAGE, "warning", "all", f"the time of images was not measured: {reason(error)}")
        return None


def _in_words(key: str) -> str:
    """Return the image of a key: `the image x.jpg of s`, `image 1 of item s/7`, or `an image of a source`."""
    if key.startswith(PIXELS):
        return "an image of a source"
    if NAMED.match(key):
        source, _, name = key.partition("://")
        return f"the image {name} of {source}"
    item, _, index = key.rpartition("#")
    return f"image {int(index) + 1} of item {item}"
