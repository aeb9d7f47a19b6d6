"""Units: an item under all severities of one corruption, from images in files, or corrupted on the fly."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

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
from benchc.schemas.pool_images import EncodedImage, images_of_groups
from benchc.transparency import Alpha

GREY = 128
GREY_SHAPE = (336, 336, 3)  # the image size of many models

# The most images of items that are read together since they share some. Items with one image share it with
# any number of others.
IMAGES_OF_GROUP = 16


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
        files: dict[str, dict[int, bytes]] = {}
        for images in self.items.values():
            for key, own in images:
                files.setdefault(key, {}).update(own)
        return _units(
            self.path.stem,
            {item: [key for key, _ in images] for item, images in self.items.items()},
            {item: list(images[0][1]) for item, images in self.items.items()},
            lambda key, levels: decoded(self.path, key, {level: files[key][level] for level in levels}),
        )


@dataclass(frozen=True)
class ImagesToCorrupt:
    """Items with their images, encoded, and a corruption to apply.

    ``severities``: those of each item.
    """

    recipe: Recipe
    severities: Mapping[str, Sequence[int]]
    seed: int
    alpha: Alpha
    items: Mapping[str, Sequence[EncodedImage]]

    def units(self) -> Iterator[Unit]:
        """Corrupt the images and yield the units, with the same pixels as from a file."""
        files = dict(image for images in self.items.values() for image in images)
        return _units(
            self.recipe.name,
            {item: [key for key, _ in images] for item, images in self.items.items()},
            self.severities,
            lambda key, levels: variants_of_image(
                key, files[key], self.recipe, levels, self.seed, self.alpha
            ),
        )


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


def in_parts(images: Iterable[UnitImages], most: int) -> Iterator[UnitImages]:
    """Yield what the same units are made of, in order, with at most ``most`` items each."""
    for each in images:
        items = list(each.items)
        for start in range(0, len(items), most):
            part = items[start : start + most]
            if isinstance(each, InPlaceOfImages):
                yield replace(each, items=part)
            elif isinstance(each, StoredImages):
                yield replace(each, items={id_: each.items[id_] for id_ in part})
            else:
                yield replace(each, items={id_: each.items[id_] for id_ in part})


def unit_images(
    pool: Path,
    keys: Mapping[str, Sequence[str]],
    images: Sequence[Path] | Recipes,
    severities: Container[int] | None = None,
    assignment: Assignment | None = None,
) -> Iterator[UnitImages]:
    """Yield what units are made of: all corruptions of an item, then those of the next, in the pool's order.

    Items that share an image come with the first of them, corruption by corruption, so that each image is
    decoded or corrupted once (:func:`items_sharing_images`).

    Args:
        pool: the POOL table.
        keys: image keys by item id, in the pool's order.
        images: files of corrupted images, or recipes to apply to the pool's images.
        severities: the severities to take; None takes all.
        assignment: the severities of each item by corruption; None takes all for each.

    Raises InputError where the images cannot be read, or where a recipe has none of the severities.
    """
    cells = assignment or {}
    groups = [{id_: keys[id_] for id_ in group} for group in items_sharing_images(keys)]
    if isinstance(images, Recipes):
        wanted = {recipe.name: _wanted(recipe, severities) for recipe in images.recipes}
        for group, files in zip(groups, images_of_groups(pool, groups), strict=True):
            for recipe in images.recipes:
                levels = _shown(group, cells.get(recipe.name), severities, wanted[recipe.name])
                items = {id_: [(key, files[key]) for key in group[id_]] for id_ in levels}
                if items:
                    yield ImagesToCorrupt(recipe, levels, images.seed, images.alpha, items)
    else:
        at_once = max(1, ITEMS_AT_ONCE // len(images))
        ordered = {id_: own for group in groups for id_, own in group.items()}
        found = {
            path: encoded_images(path, ordered, severities, at_once, cells.get(path.stem)) for path in images
        }
        for group in groups:
            for path, stored in found.items():
                shown = len(_shown(group, cells.get(path.stem), severities, [0]))
                if shown:
                    yield StoredImages(path, _once(islice(stored, shown)))


def _once(items: Iterable[tuple[str, Sequence[StoredImage]]]) -> dict[str, list[StoredImage]]:
    """Return items with their images, of which those of one key and severity are in memory once."""
    files: dict[tuple[str, int], bytes] = {}
    return {
        id_: [
            (key, {level: files.setdefault((key, level), data) for level, data in own.items()})
            for key, own in images
        ]
        for id_, images in items
    }


def _shown(
    items: Iterable[str],
    cells: Mapping[str, Sequence[int]] | None,
    severities: Container[int] | None,
    every: Sequence[int],
) -> dict[str, Sequence[int]]:
    """Return the severities of each of ``items`` that is shown; ``every`` where they are not assigned."""
    if cells is None:
        return dict.fromkeys(items, every)
    shown = {id_: wanted_levels(cells.get(id_, ()), severities) for id_ in items}
    return {id_: levels for id_, levels in shown.items() if levels}


def items_sharing_images(keys: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Yield the items in groups, each in the order of ``keys``, and the groups in that of their first items.

    Items that share an image, or each an image with a third one, are in one group, wherever they stand.
    A group has ``IMAGES_OF_GROUP`` images at most, unless one item has more: of items with several images,
    some may share one across groups.
    """
    places = {item: place for place, item in enumerate(keys)}
    showing: dict[str, list[str]] = {}
    for item, own in keys.items():
        for key in dict.fromkeys(own):
            showing.setdefault(key, []).append(item)
    placed: set[str] = set()
    for first, own in keys.items():
        if first in placed:
            continue
        group, images = {first}, list(dict.fromkeys(own))
        for key in images:  # which grows
            for item in showing[key]:
                if item in placed or item in group:
                    continue
                added = [other for other in dict.fromkeys(keys[item]) if other not in images]
                if not added or len(images) + len(added) <= IMAGES_OF_GROUP:
                    group.add(item)
                    images += added
        placed |= group
        yield sorted(group, key=places.__getitem__)


def _units(
    corruption: str,
    keys: Mapping[str, Sequence[str]],
    severities: Mapping[str, Sequence[int]],
    make: Callable[[str, Sequence[int]], dict[int, Pixels]],
) -> Iterator[Unit]:
    """Yield the units of items, each image made once at all its severities and kept to its last item.

    ``keys``: of each item's images; ``severities``: of each item; ``make`` returns an image by severity.
    """
    left = Counter(key for own in keys.values() for key in own)
    levels: dict[str, dict[int, None]] = {}
    for item, own in keys.items():
        for key in own:
            levels.setdefault(key, {}).update(dict.fromkeys(severities[item]))
    pixels: dict[str, dict[int, Pixels]] = {}
    for item, own in keys.items():
        for key in own:
            if key not in pixels:
                pixels[key] = make(key, list(levels[key]))
        shown = list(severities[item])
        yield Unit(
            item, corruption, shown, [[pixels[key][level] for key in own] for level in shown], len(own)
        )
        left.subtract(own)
        for key in own:
            if not left[key]:
                pixels.pop(key, None)


def _wanted(recipe: Recipe, severities: Container[int] | None) -> list[int]:
    wanted = wanted_levels(recipe.severities, severities)
    if not wanted:
        raise InputError(
            f"the recipe of {recipe.name} has the severities {', '.join(map(str, recipe.severities))}, "
            "but not the requested one; choose one of these"
        )
    return wanted
