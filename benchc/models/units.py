"""Units of reading: one item's images under one corruption, from a file or made where they are read."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from benchc.corruptions.recipe import Recipe
from benchc.corruptions.variants import variants_of_item
from benchc.errors import InputError
from benchc.images import Alpha, ImageError, Pixels, decode
from benchc.models.question import Question
from benchc.models.reading import Reader
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.parquet import iterate_groups
from benchc.schemas.pool import POOL


@dataclass(frozen=True)
class Unit:
    """One item under some severities of one corruption, whose reads share their prompt."""

    item: str
    corruption: str
    severities: list[int]
    variants: list[list[Pixels]]  # the item's images, by severity


def written_units(
    path: Path, items: Mapping[str, Question], severities: Container[int] | None = None
) -> Iterator[Unit]:
    """Yield the units of a file of corrupted images; None takes all severities that it holds.

    Raises InputError where the file lacks images of an item, or where these cannot be decoded.
    """
    missing = dict.fromkeys(items)
    for rows in iterate_groups(path, CORRUPTED, "id", items):
        group = _at(rows, severities)
        if group.is_empty():
            continue
        id_ = group["id"][0]
        try:
            variants = [[decode(image["bytes"]) for image in images] for images in group["images"]]
        except ImageError as error:
            raise InputError(f"{path}: item {id_}: {error}") from error
        missing.pop(id_)
        yield Unit(id_, path.stem, group["severity"].to_list(), variants)
    if missing:
        raise InputError(
            f"{path}: has no images of {len(missing)} items, the first is {min(missing)}; "
            "delete the file and run snakemake again"
        )


def made_units(
    pool: Path,
    items: Mapping[str, Question],
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
    for row in iterate_groups(pool, POOL, "id", items):
        id_ = row["id"][0]
        encoded = [image["bytes"] for image in row["images"][0]]
        made = variants_of_item(id_, encoded, recipe, wanted, seed, alpha)
        yield Unit(id_, recipe.name, [severity for severity, _ in made], [images for _, images in made])


def read_unit(reader: Reader, question: Question, unit: Unit) -> Iterator[dict[str, Any]]:
    """Yield the unit's reads as rows of PREDICTIONS, logits in the order of the question's options."""
    scores, prompt_hash, image_hashes = reader.read(question, unit.variants)
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


def _at(rows: pl.DataFrame, severities: Container[int] | None) -> pl.DataFrame:
    # Before decoding, which is what reading a few severities of a file saves.
    return (
        rows if severities is None else rows.filter([severity in severities for severity in rows["severity"]])
    )
