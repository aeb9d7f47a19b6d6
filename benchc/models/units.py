"""Units of inference: one item's images under one corruption, loaded from a file or corrupted here."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchc.corruptions.recipe import Recipe
from benchc.corruptions.variants import variants_of_image
from benchc.errors import InputError
from benchc.images import Alpha, Pixels
from benchc.models.predictor import Predictor
from benchc.models.question import Question
from benchc.schemas.corrupted_images import images_of_items
from benchc.schemas.pool_images import pool_images


@dataclass(frozen=True)
class Unit:
    """One item under some severities of one corruption, whose predictions share their prompt."""

    item: str
    corruption: str
    severities: list[int]
    variants: list[list[Pixels]]  # the item's images, by severity


@dataclass(frozen=True)
class Recipes:
    """How images are corrupted on the fly."""

    recipes: Sequence[Recipe]
    seed: int
    alpha: Alpha = "drop"


def units_of(
    pool: Path,
    keys: Mapping[str, Sequence[str]],
    images: Sequence[Path] | Recipes,
    severities: Container[int] | None = None,
) -> Iterator[tuple[str, Iterator[Unit]]]:
    """Yield every corruption and its units, one an item of ``keys`` (image keys by item id, in pool order).

    ``images``: files of corrupted images, or recipes that are applied here to those of the ``pool``;
    ``severities``: which to read, None takes all. Raises as :func:`load_units` and :func:`corrupt_units`.
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
    """Yield the units of a file of corrupted images; raises as ``images_of_items``."""
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
    """Yield the units of a corruption that is applied here, with the pixels that a file would hold.

    Raises InputError where the recipe has none of ``severities``; None takes all that it has.
    """
    wanted = [level for level in recipe.severities if severities is None or level in severities]
    if not wanted:
        raise InputError(
            f"the recipe of {recipe.name} has the severities {', '.join(map(str, recipe.severities))} and "
            "not the one to read; give one that it has"
        )
    # Items that share an image stand side by side as a rule, and then it is corrupted once.
    made: dict[str, dict[int, Pixels]] = {}
    for id_, images in pool_images(pool, ids):
        made = {
            key: made[key] if key in made else variants_of_image(key, data, recipe, wanted, seed, alpha)
            for key, data in images
        }
        yield Unit(id_, recipe.name, wanted, [[made[key][level] for key, _ in images] for level in wanted])


def predict_unit(predictor: Predictor, question: Question, unit: Unit) -> Iterator[dict[str, Any]]:
    """Yield the unit's predictions as rows of PREDICTIONS, logits in the order of the question's options."""
    scores, prompt_hash, image_hashes = predictor.predict(question, unit.variants)
    for row, severity in enumerate(unit.severities):
        yield {
            "id": unit.item,
            "corruption": unit.corruption,
            "severity": severity,
            "logits": scores.logits[row].tolist(),
            "label_mass": float(scores.label_mass[row]),
            "prompt_hash": prompt_hash,
            "image_hash": image_hashes[row],
        }
