"""The units of inference: one item's images under one corruption, loaded from a file or corrupted here."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchc.corruptions.recipe import Recipe
from benchc.corruptions.variants import variants_of_image
from benchc.errors import InputError
from benchc.images import Alpha
from benchc.pixels import Pixels
from benchc.schemas.corrupted_images import images_of_items
from benchc.schemas.pool_images import pool_images

Variants = Sequence[Sequence[Pixels]]  # of the images of an item


@dataclass(frozen=True)
class Unit:
    """One item under some severities of one corruption: all its predictions have the same prompt."""

    item: str
    corruption: str
    severities: list[int]
    variants: list[list[Pixels]]  # the item's images, by severity


@dataclass(frozen=True)
class Recipes:
    """Corruptions to apply on the fly."""

    recipes: Sequence[Recipe]
    seed: int
    alpha: Alpha = "drop"


def units_of(
    pool: Path,
    keys: Mapping[str, Sequence[str]],
    images: Sequence[Path] | Recipes,
    severities: Container[int] | None = None,
) -> Iterator[tuple[str, Iterator[Unit]]]:
    """Yield every corruption and its units, one per item.

    Args:
        pool: the POOL table.
        keys: image keys by item id, in the pool's order.
        images: files of corrupted images, or recipes to apply to the pool's images.
        severities: the severities to take; None takes all.

    Raises as :func:`load_units` and :func:`corrupt_units` do.
    """
    if isinstance(images, Recipes):
        for recipe in images.recipes:
            yield recipe.name, corrupt_units(pool, keys, recipe, images.seed, images.alpha, severities)
    else:
        for path in images:
            yield path.stem, load_units(path, keys, severities)


def load_units(
    path: Path, keys: Mapping[str, Sequence[str]], severities: Container[int] | None = None
) -> Iterator[Unit]:
    """Yield the units of a file of corrupted images; raises as ``images_of_items`` does."""
    for id_, variants in images_of_items(path, keys, severities):
        yield Unit(id_, path.stem, list(variants), list(variants.values()))


def corrupt_units(
    pool: Path,
    ids: Container[str],
    recipe: Recipe,
    seed: int,
    alpha: Alpha,
    severities: Container[int] | None = None,
) -> Iterator[Unit]:
    """Apply a corruption and yield its units, with the same pixels as from a file.

    Raises InputError where the recipe has none of ``severities``; None takes all.
    """
    wanted = [level for level in recipe.severities if severities is None or level in severities]
    if not wanted:
        raise InputError(
            f"the recipe of {recipe.name} has the severities {', '.join(map(str, recipe.severities))}, "
            "but not the requested one; choose one of these"
        )
    # Items that share an image are usually adjacent; it is then corrupted once.
    variants: dict[str, dict[int, Pixels]] = {}
    for id_, images in pool_images(pool, ids):
        variants = {
            key: variants[key]
            if key in variants
            else variants_of_image(key, data, recipe, wanted, seed, alpha)
            for key, data in images
        }
        yield Unit(
            id_, recipe.name, wanted, [[variants[key][level] for key, _ in images] for level in wanted]
        )
