"""The items of a pool under one corruption: decode once, corrupt at every severity, encode without loss."""

import functools
import importlib.metadata
import itertools
import multiprocessing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import cv2
import polars as pl

from benchc.corruptions.corrupt import check, corrupt
from benchc.errors import InputError
from benchc.images import ImageError, decode, encode_png
from benchc.randomness import seed_of
from benchc.tables.corrupted import CORRUPTED

EncodedImages = list[dict[str, bytes | str | None]]  # as in the `images` columns
Variant = tuple[str, int, EncodedImages]  # a row of `corrupted/{corruption}.parquet`


@dataclass(frozen=True)
class Corruption:
    """What is done to the items: a corruption of a suite, its severities, and the run's seed."""

    name: str
    severities: tuple[int, ...]
    seed: int
    suite: str = "imagenet-c"

    def __post_init__(self) -> None:
        if list(self.severities) != sorted(set(self.severities)) or not self.severities:
            raise ValueError(f"severities are given once each and rising, not as {list(self.severities)}")
        for severity in self.severities:
            check(self.name, severity, self.suite)


def variants(items: pl.DataFrame, corruption: Corruption, workers: int = 1) -> Iterator[list[Variant]]:
    """Yield, for one item after the other, its rows of CORRUPTED by severity.

    ``items`` needs ``id`` and ``images``. The pixels of a variant depend on the run's seed, the item's id,
    the image's place in it, the corruption and the severity; neither order nor ``workers`` changes a byte.
    With the item's id, raises InputError where an image cannot be decoded, and ValueError where it cannot be
    corrupted.
    """
    rows = items.select("id", "images").iter_rows()
    function = functools.partial(variants_of_item, corruption=corruption)
    if workers == 1:
        _one_thread()
        yield from map(function, rows)
        return
    # Polars' threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_one_thread) as pool:
        yield from pool.map(function, rows, chunksize=8)


def variants_of_item(
    row: tuple[str, Sequence[Mapping[str, bytes | str | None]]], corruption: Corruption
) -> list[Variant]:
    """Return the rows of one item, given as its ``id`` and ``images``, by severity."""
    item, images = row
    encoded: dict[int, EncodedImages] = {severity: [] for severity in corruption.severities}
    for index, image in enumerate(images):
        data = image["bytes"]
        try:
            if not isinstance(data, bytes):
                raise ImageError("it has no bytes")
            pixels = decode(data)
            for severity, variant in encoded.items():
                seed = seed_of(corruption.seed, item, index, corruption.name, severity)
                result = corrupt(pixels, corruption.name, severity, seed=seed, suite=corruption.suite)
                variant.append({"bytes": encode_png(result), "path": None})
        except ImageError as error:
            raise InputError(
                f"item {item!r}, image {index}, under {corruption.name}: {error}; mend the image in the "
                "item's source, or take the item out of it"
            ) from error
        except (ValueError, TypeError) as error:
            raise ValueError(f"item {item!r}, image {index}, under {corruption.name}: {error}") from error
    return [(item, severity, variant) for severity, variant in encoded.items()]


def variants_frame(rows_of_items: Iterable[Sequence[Variant]]) -> pl.DataFrame:
    """Return the rows of all items as a frame of the type CORRUPTED."""
    schema = dict(CORRUPTED.columns)
    frames = [pl.DataFrame(schema=schema)]
    iterator = iter(rows_of_items)
    # In portions, so that the images do not stand in memory twice.
    while portion := list(itertools.islice(iterator, 64)):
        rows = list(itertools.chain.from_iterable(portion))
        frames.append(pl.DataFrame(rows, schema=schema, orient="row"))
    return pl.concat(frames)


def library_versions() -> dict[str, str]:
    """Return the versions on which corrupted pixels depend besides this package."""
    names = ("imagecorruptions-imaug", "imaug", "numpy", "pillow", "scikit-image", "scipy")
    return {name: importlib.metadata.version(name) for name in names} | {"opencv": cv2.__version__}


def _one_thread() -> None:
    # Workers are how this work is spread over cores.
    cv2.setNumThreads(1)
