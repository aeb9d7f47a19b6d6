"""Measure how long the images of a run take: to decode and corrupt, to write, and to read again."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import polars as pl

from benchc.checking.child import in_child
from benchc.config.corruption_batches import corruption_batches
from benchc.config.load import Config
from benchc.config.settings import Corruptions
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.recipe import CLEAN
from benchc.corruptions.variants import variants_of_image
from benchc.images import decode, encode, opened
from benchc.progress import track

# After this time, a corruption is measured on no further image.
SECONDS_OF_CORRUPTION = 2.0

Result = TypeVar("Result")


@dataclass(frozen=True)
class ImageTime:
    """Seconds of one image in one variant, the mean over all variants of a run, for each of its pixels.

    ``make``: to decode and corrupt it. ``write``: to encode it. ``read``: to decode what was written.
    ``first``: seconds that a corruption takes longer for its first image, which loads its kernel; the mean
    over the corruptions. ``start``: seconds of a job that corrupts, before its first image.
    """

    make: float
    write: float
    read: float
    first: float = 0.0
    start: float = 0.0


def time_of_images(chosen: Corruptions, seed: int, images: Mapping[str, bytes]) -> ImageTime:
    """Measure the images of a run in a new process, as jobs are; ``images``: a few of them, encoded, by key.

    Each corruption is measured at all its severities, since the times of corruptions differ by a factor of
    100. Raises InputError where a job would.
    """
    began = time.monotonic()
    found, seconds = in_child(__name__, "measured_images", chosen, seed, images)
    whole = time.monotonic() - began
    make, write, read, first = found
    return ImageTime(make, write, read, first, max(0.0, whole - seconds))


def measured_images(
    chosen: Corruptions, seed: int, images: Mapping[str, bytes]
) -> tuple[tuple[float, float, float, float], float]:
    """Return ``make``, ``write``, ``read`` and ``first`` of :class:`ImageTime`, and the seconds it took."""
    began = time.monotonic()
    suite = suite_with(chosen.suite, chosen.own_files)
    pixels = {key: pixels_of(data) for key, data in images.items()}
    smallest = min(pixels, key=lambda key: pixels[key])
    make = write = read = first = 0.0
    variants = 0
    for name in track((CLEAN, *chosen.types), label="time images", unit="corruptions"):
        recipe = chosen.recipe(name, suite)
        levels = [0] if name == CLEAN else list(chosen.severities)
        corrupt = partial(variants_of_image, recipe=recipe, severities=levels, seed=seed, alpha=chosen.alpha)
        (_, loading), (_, again) = (_timed(corrupt, smallest, images[smallest]) for _ in range(2))
        first += max(0.0, loading - again)
        seconds, count = 0.0, 0
        for key, data in images.items():
            found, own = _timed(corrupt, key, data)
            seconds, count, last = seconds + own, count + pixels[key], pixels[key]
            if seconds > SECONDS_OF_CORRUPTION:
                break
        stored, writing = _timed(encode, found[levels[-1]])
        _, reading = _timed(decode, stored)
        make += seconds / count
        write += writing / last * len(levels)
        read += reading / last * len(levels)
        variants += len(levels)
    mean = (make / variants, write / variants, read / variants, first / (1 + len(chosen.types)))
    return mean, time.monotonic() - began


@dataclass(frozen=True)
class JobImages:
    """The time in which a job that asks a model makes its images.

    ``each``: seconds for each prediction, 0 where that was not measured. ``start``: seconds for each job.
    """

    each: float
    start: float


NO_IMAGES = JobImages(0.0, 0.0)


def job_images(time: ImageTime | None, images: pl.DataFrame | None, config: Config) -> JobImages:
    """Return the time of the images of a run's jobs; :data:`NO_IMAGES` where it was not measured.

    ``images``: those of :class:`RunSize`. Jobs corrupt them, or read them from files.
    """
    if time is None or images is None:
        return NO_IMAGES
    chosen, pixels = config.settings.corruptions, pixels_made(images)
    if config.settings.corrupted == "files":
        return JobImages(time.read * pixels, 0.0)
    parts = corruption_batches(chosen, config.settings.inference)
    return JobImages(time.make * pixels, time.first * (1 + len(chosen.types)) / len(parts))


def _timed(function: Callable[..., Result], *arguments: object) -> tuple[Result, float]:
    start = time.monotonic()
    return function(*arguments), time.monotonic() - start


def images_of(items: pl.DataFrame) -> dict[str, bytes]:
    """Return the images of items, of type POOL, by key."""
    rows = items.select(key=pl.col("image_keys"), image=pl.col("images")).explode("key", "image")
    return {key: image["bytes"] for key, image in rows.iter_rows() if key is not None}


def pixels_of(data: bytes) -> int:
    """Return the pixels of an encoded image; decodes its header alone."""
    with opened(data) as file:
        return math.prod(file.size)


def pixels_made(images: pl.DataFrame) -> float:
    """Return the pixels that a job makes for each item, the mean over the items, in one variant.

    ``images``: those of :class:`RunSize`. A job makes an image once for all items that share it.
    """
    return float(images.unique("image_key")["pixels"].sum()) / max(1, images["id"].n_unique())
