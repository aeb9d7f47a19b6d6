"""The targets of a run with their scores, on the items that all of them have."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import polars as pl

from benchc.benchmarks.bench_c.metrics.common_items import common_items
from benchc.benchmarks.bench_c.metrics.cube import Cube, cube_of
from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.errors import InputError
from benchc.progress import track
from benchc.rendering.output import Files
from benchc.schemas.models import Model, read_models
from benchc.schemas.parquet import read_footer, read_table

MISSING = "missing_items"  # of a footer of scores, where predictions are missing


@dataclass(frozen=True)
class Targets:
    """The targets' tables of scores by id, in the order given, on the items that every target has.

    ``left_out`` selected items are not among these, since predictions of them are missing.
    """

    scores: dict[str, pl.DataFrame]
    models: dict[str, Model]
    left_out: int = 0

    @property
    def labels(self) -> dict[str, str]:
        """Return the name of each target as it is printed, by its id."""
        return {id_: model.label for id_, model in self.models.items()}

    @property
    def by_label(self) -> dict[str, pl.DataFrame]:
        """Return the tables of scores by the targets' names as they are printed."""
        return {self.models[id_].label: table for id_, table in self.scores.items()}

    @property
    def items(self) -> int:
        """Return how many items the targets are compared on."""
        return next(iter(self.scores.values()))["id"].n_unique()

    @property
    def note(self) -> str:
        """Return the sentence that ends a caption where items are left out, with a space in front; or ""."""
        return left_out_note(self.items, self.left_out)

    @property
    def cube(self) -> Cube:
        """Return the predictions of all targets as arrays, by id."""
        return cube_of(self.scores)


def left_out_note(items: int, left_out: int) -> str:
    """Return the sentence that ends the caption of what compares targets, with a space in front.

    Empty where no item is ``left_out`` beside the ``items`` that are compared.
    """
    if not left_out:
        return ""
    return f" On {items:,} of {items + left_out:,} items: those whose predictions all targets have."


def left_out_items(footers: Sequence[Mapping[str, object]], items: int) -> int:
    """Return how many selected items are left out where targets are compared on ``items`` of them.

    ``footers``: those of their tables of scores. 0 where none of these says that reads are missing.
    """
    selected = [
        _number(footer, "items") + _number(footer, MISSING) for footer in footers if MISSING in footer
    ]
    return max(selected) - items if selected else 0


def read_targets(scores: list[Path], models: Path) -> Targets:
    """Return the targets of ``scores``, {model}.parquet each, as ``models``, models.json, names them.

    Where a table leaves out items since predictions of them are missing, all tables are of the items that
    every target has. Raises InputError where a file is of no model that is named, or two are of one.
    """
    named = read_models(models).models
    paths = {path.stem: path for path in scores}
    unknown = [id_ for id_ in paths if id_ not in named]
    if unknown or len(paths) != len(scores):
        fault = f"{paths[unknown[0]]} is of none of them" if unknown else "two files are of one model"
        raise InputError(f"{models}: it names {', '.join(named)}, and {fault}; give the scores of one run")
    labels = [named[id_].label for id_ in paths]
    if len(set(labels)) != len(labels):
        raise InputError(f"{models}: two models have one label: {', '.join(labels)}; give each its own")
    footers = {id_: read_footer(path) for id_, path in paths.items()}
    missing = {named[id_].label: _number(footer, MISSING) for id_, footer in footers.items()}
    files = track(paths.items(), label="scores", unit="files")
    tables = common_items({named[id_].label: read_table(path, SCORES) for id_, path in files}, missing)
    found = Targets(dict(zip(paths, tables.values(), strict=True)), {id_: named[id_] for id_ in paths})
    if not any(missing.values()):
        return found
    found = Targets(found.scores, found.models, left_out_items(list(footers.values()), found.items))
    most = max(missing, key=lambda label: missing[label])
    print(
        f"{len(tables)} targets have all predictions of {found.items:,} items, {found.left_out:,} are left "
        f"out; {most} lacks most, {missing[most]:,}",
        file=sys.stderr,
    )
    return found


def read_unselected_targets(unselected_scores: list[Path], models: Path) -> Targets:
    """Return the targets' scores of unselected items, as :func:`read_targets` does those of selected ones."""
    return read_targets(unselected_scores, models)


def _number(footer: Mapping[str, object], key: str) -> int:
    return int(str(footer.get(key, 0)))


TargetScores = Annotated[Targets, Files(read_targets)]
UnselectedScores = Annotated[Targets, Files(read_unselected_targets)]
