"""Units: an item under all severities of one corruption, from images in files, or corrupted on the fly."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from benchc.corruptions.recipe import Recipe
from benchc.corruptions.variants import variants_of_image
from benchc.errors import InputError
from benchc.models.asking import ImageSubstitute
from benchc.models.protocol import Variants
from benchc.pixels import Pixels
from benchc.schemas.assignment import Assignment
from benchc.schemas.corrupted_images import (
    ITEMS_AT_ONCE,
    StoredImage,
    decoded,
    encoded_images,
    wanted_levels,
)
from benchc.schemas.pool_images import EncodedImage, pool_images
from benchc.transparency import Alpha

GREY = 128
GREY_SHAPE = (336, 336, 3)  # the image size of many models

# The most items that are read together since they share images.
ITEMS_OF_RUN = 16

Encoding = TypeVar("Encoding")  # of an image: its file, or its files by severity


@dataclass(frozen=True)
class Unit:
    """One item under some severities of one corruption: all its predictions have the same prompt.

    Attributes:
        variants: the item's images, by severity.
        images: the number of images of a variant.
        image_hashes: the hash of each variant's pixels, where another process has computed it.
        prompt_hash: of the prompt that ``groups`` are of.
        groups: the model's input (:class:`benchc.models.encoding.VariantGroup`), where another process has
            encoded it.
    """

    item: str
    corruption: str
    severities: list[int]
    variants: Variants
    images: int
    image_hashes: list[str] | None = None
    prompt_hash: str | None = None
    groups: Sequence[Any] | None = None

    @property
    def nbytes(self) -> int:
        """The bytes of the pixels, or of the model's input where that is computed."""
        if self.image_hashes is not None:
            return sum(group.encoded.nbytes for group in self.groups or ())
        return sum(image.nbytes for images in self.variants for image in images)


@dataclass(frozen=True)
class Recipes:
    """Corruptions to apply on the fly."""

    recipes: Sequence[Recipe]
    seed: int
    alpha: Alpha = "drop"


@dataclass(frozen=True)
class StoredImages:
    """Items with their images under one corruption, as they are in a file."""

    path: Path
    items: Mapping[str, Sequence[StoredImage]]

    def units(self) -> Iterator[Unit]:
        """Decode the images and yield the units; items that share an image share its pixels."""
        for item, images in _shared(self.items, lambda key, files: decoded(self.path, key, files)):
            yield _unit(item, self.path.stem, list(images[0]), images)


@dataclass(frozen=True)
class ImagesToCorrupt:
    """Items with their images, encoded, and a corruption to apply."""

    recipe: Recipe
    severities: Sequence[int]
    seed: int
    alpha: Alpha
    items: Mapping[str, Sequence[EncodedImage]]

    def units(self) -> Iterator[Unit]:
        """Corrupt the images and yield the units, with the same pixels as from a file."""

        def corrupted(key: str, data: bytes | None) -> dict[int, Pixels]:
            return variants_of_image(key, data, self.recipe, self.severities, self.seed, self.alpha)

        for item, images in _shared(self.items, corrupted):
            yield _unit(item, self.recipe.name, list(self.severities), images)


@dataclass(frozen=True)
class InPlaceOfImages:
    """Items that are asked about without their images: with none, or with a grey one."""

    kind: ImageSubstitute
    items: Sequence[str]

    def units(self) -> Iterator[Unit]:
        """Yield a unit of one variant for each item, whose corruption is ``kind``."""
        images = [] if self.kind == "no_image" else [np.full(GREY_SHAPE, GREY, dtype=np.uint8)]
        for item in self.items:
            yield Unit(item, self.kind, [0], [images], len(images))


UnitImages = StoredImages | ImagesToCorrupt | InPlaceOfImages


def units_of(
    pool: Path, keys: Mapping[str, Sequence[str]], images: Sequence[Path] | Recipes
) -> Iterator[Unit]:
    """Yield the units of :func:`unit_images`."""
    return units_in(unit_images(pool, keys, images))


def units_in(images: Iterable[UnitImages]) -> Iterator[Unit]:
    """Yield the units of ``images`` in order."""
    for each in images:
        yield from each.units()


def unit_images(
    pool: Path,
    keys: Mapping[str, Sequence[str]],
    images: Sequence[Path] | Recipes,
    severities: Container[int] | None = None,
    assignment: Assignment | None = None,
) -> Iterator[UnitImages]:
    """Yield what units are made of, item by item: all corruptions of an item, then those of the next.

    Consecutive items that share an image come together, corruption by corruption, so that each image is
    decoded or corrupted once.

    Args:
        pool: the POOL table.
        keys: image keys by item id, in the pool's order.
        images: files of corrupted images, or recipes to apply to the pool's images.
        severities: the severities to take; None takes all.
        assignment: the severities of each item by corruption; None takes all for each.

    Raises InputError where the images cannot be read, or where a recipe has none of the severities.
    """
    cells = assignment or {}
    if isinstance(images, Recipes):
        wanted = {recipe.name: _wanted(recipe, severities) for recipe in images.recipes}
        found = pool_images(pool, keys)
        for run in items_sharing_images(keys):
            items = dict(islice(found, len(run)))
            for recipe in images.recipes:
                for own, levels in _assigned(run, cells.get(recipe.name), severities):
                    chosen, levels = {id_: items[id_] for id_ in own}, levels or wanted[recipe.name]
                    yield ImagesToCorrupt(recipe, levels, images.seed, images.alpha, chosen)
    else:
        at_once = max(1, ITEMS_AT_ONCE // len(images))
        files = {}
        for path in images:
            files[path] = encoded_images(path, keys, severities, at_once, cells.get(path.stem))
        for run in items_sharing_images(keys):
            for path, stored in files.items():
                for own, _ in _assigned(run, cells.get(path.stem), severities):
                    yield StoredImages(path, dict(islice(stored, len(own))))


def _assigned(
    items: Sequence[str], cells: Mapping[str, Sequence[int]] | None, severities: Container[int] | None
) -> Iterator[tuple[list[str], list[int] | None]]:
    """Yield the items that are shown with their severities, consecutive ones of the same together.

    ``cells``: the severities of each item; None: all of them show all, which is None again.
    """
    if cells is None:
        yield list(items), None
        return
    shown = {id_: wanted_levels(cells.get(id_, ()), severities) for id_ in items}
    for levels, same in groupby(items, shown.__getitem__):
        if levels:
            yield list(same), levels


def items_sharing_images(keys: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Yield the items in order, those that share an image with the one before together."""
    run: list[str] = []
    for item, own in keys.items():
        if run and (len(run) == ITEMS_OF_RUN or set(keys[run[-1]]).isdisjoint(own)):
            yield run
            run = []
        run.append(item)
    if run:
        yield run


def _shared(
    items: Mapping[str, Sequence[tuple[str, Encoding]]],
    pixels_of: Callable[[str, Encoding], dict[int, Pixels]],
) -> Iterator[tuple[str, list[dict[int, Pixels]]]]:
    """Yield each item and the pixels of its images; an image of the item before is not made again."""
    pixels: dict[str, dict[int, Pixels]] = {}
    for item, images in items.items():
        pixels = {key: pixels[key] if key in pixels else pixels_of(key, data) for key, data in images}
        yield item, [pixels[key] for key, _ in images]


def _unit(item: str, corruption: str, severities: list[int], images: Sequence[Mapping[int, Pixels]]) -> Unit:
    variants = [[pixels[severity] for pixels in images] for severity in severities]
    return Unit(item, corruption, severities, variants, len(images))


def _wanted(recipe: Recipe, severities: Container[int] | None) -> list[int]:
    wanted = wanted_levels(recipe.severities, severities)
    if not wanted:
        raise InputError(
            f"the recipe of {recipe.name} has the severities {', '.join(map(str, recipe.severities))}, "
            "but not the requested one; choose one of these"
        )
    return wanted
