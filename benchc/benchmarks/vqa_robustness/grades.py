"""The grades of all models of a run, side by side: each model is graded on the same answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import polars as pl

from benchc.benchmarks.vqa_robustness.metrics.severity import LEVELS, Floats
from benchc.errors import InputError
from benchc.labels import check_labels
from benchc.rendering.output import Files
from benchc.schemas.grades import GRADES
from benchc.schemas.grid import grid_rows, in_cells
from benchc.schemas.parquet import REMAKE
from benchc.schemas.predictions import CLEAN
from benchc.schemas.shared_facts import tables_by_model

Grade = Literal["exact", "normalised", "soft"]


@dataclass(frozen=True)
class Answers:
    """How right each answer is.

    ``right``: float[models, corruptions, 6, items] in [0, 1], at the levels 0 (clean, equal for all
    corruptions) to 5; 0 or 1 unless answers are graded softly.
    """

    models: tuple[str, ...]  # labels
    corruptions: tuple[str, ...]
    items: tuple[str, ...]  # ids, sorted
    right: Floats

    @property
    def errors(self) -> Floats:
        """Return the share of wrong answers, float[models, corruptions, 6]."""
        errors: Floats = self.wrong.sum(axis=-1) / len(self.items)
        return errors

    @property
    def wrong(self) -> Floats:
        """Return how wrong each answer is, in [0, 1], in the shape of ``right``."""
        return 1 - self.right


def read_grades(grades: list[Path]) -> dict[str, pl.DataFrame]:
    """Return the GRADES tables of models by their ids, which are in the footers.

    Raises InputError where two files are of one model, or of another pool, seed or alpha.
    """
    return {id_: rows for id_, (_, rows, _) in tables_by_model(grades, GRADES, "grades").items()}


Graded = Annotated[dict[str, pl.DataFrame], Files(read_grades)]


def answers_of(
    graded: Mapping[str, pl.DataFrame], labels: Mapping[str, str], corruptions: Sequence[str], grade: Grade
) -> Answers:
    """Return how right each answer is.

    Args:
        graded: GRADES tables by the ids of their models.
        labels: the names of the models to show, by id, in the order of tables.
        corruptions: without clean, in the order of tables.
        grade: the column that decides.

    Raises InputError where two models have one label, and where a model of ``labels`` has no grades, or not
    one of each item, clean and at each level of each corruption.
    """
    check_labels(labels, "the grades")
    if absent := [id_ for id_ in labels if id_ not in graded]:
        raise InputError(f"{absent[0]} has no grades; {REMAKE}")
    items = sorted({id_ for rows in graded.values() for id_ in rows["id"].unique()})
    if not items:
        raise InputError("no answer has a grade; evaluate at least one item")
    right = np.stack([_right(id_, graded[id_], items, corruptions, grade) for id_ in labels])
    return Answers(tuple(labels.values()), tuple(corruptions), tuple(items), right)


def images_of(items: Sequence[str], pool: pl.DataFrame) -> list[str]:
    """Return the images of each item as one text: questions about the same images, in any order, share it.

    ``pool``: id and image_keys of each item. Raises InputError where an item is not in the pool.
    """
    keys = {id_: "\0".join(sorted(images)) for id_, images in pool.select("id", "image_keys").iter_rows()}
    if unknown := [id_ for id_ in items if id_ not in keys]:
        raise InputError(f"the pool has no item {unknown[0]}, which has grades; {REMAKE}")
    return [keys[id_] for id_ in items]


def by_image(answers: Answers, pool: pl.DataFrame) -> tuple[Floats, Floats]:
    """Return the wrong answers to the questions about each image, and how many questions these are.

    Questions about the same images, in any order, belong together; ``pool``: id and image_keys of each item.
    Returns float[models, corruptions, 6, images] and float[images], sorted by image. Raises InputError where
    an item is not in the pool.
    """
    images = np.array(images_of(answers.items, pool))
    order = np.argsort(images, kind="stable")
    _, starts, questions = np.unique(images[order], return_index=True, return_counts=True)
    wrong: Floats = np.add.reduceat(answers.wrong[..., order], starts, axis=-1)
    return wrong, questions.astype(np.float64)


def _right(
    model: str, rows: pl.DataFrame, items: Sequence[str], corruptions: Sequence[str], grade: Grade
) -> Floats:
    """Return float[corruptions, 6, items] of one model."""
    cells = [(CLEAN, 0), *product(corruptions, range(1, LEVELS))]
    rows = in_cells(rows, cells)
    places = grid_rows(rows, items, cells, f"{model}: grade", mend=REMAKE)
    values = rows[grade].cast(pl.Float64).fill_null(np.nan).to_numpy()[places.T]  # [cells, items]
    if (values < 0).any() or (values > 1).any():
        raise InputError(f"{model} has a grade outside [0, 1]; {REMAKE}")
    if np.isnan(values).any():
        cell, item = np.argwhere(np.isnan(values))[0]
        corruption, level = cells[cell]
        raise InputError(
            f"{model} has no {grade} grade of {items[item]} under {corruption} at severity {level}: its "
            "source has one reference answer; choose the grade normalised or exact"
        )
    clean = np.broadcast_to(values[0], (len(corruptions), 1, len(items)))
    corrupted = values[1:].reshape(len(corruptions), LEVELS - 1, len(items))
    return np.concatenate([clean, corrupted], axis=1)
