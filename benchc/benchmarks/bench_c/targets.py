"""The targets of a run with their scores, on the items for which all targets have scores."""

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
from benchc.labels import check_labels
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.rendering.output import Files
from benchc.schemas.models import Model, read_models
from benchc.schemas.parquet import REMAKE, read_footer, read_table
from benchc.schemas.shared_facts import add_shared_facts

MISSING_ITEMS = "missing_items"  # key in the footer of scores from which items were excluded


@dataclass(frozen=True)
class Targets:
    """The targets' SCORES tables by id, in the order given, all on the same items.

    ``excluded`` selected items are not among these, since predictions are missing.
    """

    scores: dict[str, pl.DataFrame]
    models: dict[str, Model]
    excluded: int = 0

    @property
    def labels(self) -> dict[str, str]:
        """Return the printed name of each target by id."""
        return {id_: model.label for id_, model in self.models.items()}

    @property
    def by_label(self) -> dict[str, pl.DataFrame]:
        """Return the tables of scores by the targets' printed names."""
        return {self.models[id_].label: table for id_, table in self.scores.items()}

    @property
    def items(self) -> int:
        """Return the number of items on which targets are compared."""
        return next(iter(self.scores.values()))["id"].n_unique()

    @property
    def note(self) -> str:
        """Return :func:`excluded_note` of these targets."""
        return excluded_note(self.items, self.excluded)

    @property
    def cube(self) -> Cube:
        """Return the scores of all targets as arrays, by id."""
        return cube_of(self.scores)


def excluded_note(items: int, excluded: int) -> str:
    """Return a sentence for captions, after a space, on the items that are excluded; empty if none are."""
    if not excluded:
        return ""
    return f" On {items:,} of {items + excluded:,} items: those for which no target lacks a prediction."


def excluded_items(footers: Sequence[Mapping[str, object]], items: int) -> int:
    """Return how many selected items are excluded from a comparison of targets on ``items`` of them.

    ``footers``: of the targets' scores. 0 where none of them records missing predictions.
    """
    selected = [
        _number(footer, "items") + _number(footer, MISSING_ITEMS)
        for footer in footers
        if MISSING_ITEMS in footer
    ]
    return max(selected) - items if selected else 0


def read_targets(scores: list[Path], models: Path) -> Targets:
    """Return the targets of ``scores``, {model}.parquet each, with the names in ``models``, models.json.

    Where items are excluded because predictions are missing, all tables are restricted to the items that
    every target has. Raises InputError where a file belongs to no model of models.json, or two to one, and
    where footers say that it is of another model, or that two files are of another pool, seed or alpha.
    """
    named = read_models(models).models
    paths = {path.stem: path for path in scores}
    unknown = [id_ for id_ in paths if id_ not in named]
    if unknown or len(paths) != len(scores):
        problem = f"{paths[unknown[0]]} is of none of them" if unknown else "two files are of one model"
        raise InputError(f"{models}: it lists {', '.join(named)}, and {problem}; give the scores of one run")
    check_labels({id_: named[id_].label for id_ in paths}, str(models))
    footers = {id_: read_footer(path) for id_, path in paths.items()}
    check_footers(paths, footers)
    missing = {named[id_].label: _number(footer, MISSING_ITEMS) for id_, footer in footers.items()}
    files = track(paths.items(), label="scores", unit="files")
    tables = common_items({named[id_].label: read_table(path, SCORES) for id_, path in files}, missing)
    found = Targets(dict(zip(paths, tables.values(), strict=True)), {id_: named[id_] for id_ in paths})
    if not any(missing.values()):
        return found
    found = Targets(found.scores, found.models, excluded_items(list(footers.values()), found.items))
    most = max(missing, key=lambda label: missing[label])
    print(
        f"{found.items:,} of {pluralize(found.items + found.excluded, 'item')} have all predictions of "
        f"{pluralize(len(tables), 'target')}, the others are excluded; {most} lacks the most "
        f"predictions, {missing[most]:,}",
        file=sys.stderr,
    )
    return found


def check_footers(paths: Mapping[str, Path], footers: Mapping[str, Mapping[str, object]]) -> None:
    """Raise InputError where {model}.parquet has the scores of another model, or of another run's inputs."""
    found: dict[str, object] = {}
    for id_, footer in footers.items():
        if footer.get("label", id_) != id_:
            raise InputError(f"{paths[id_]}: its scores are those of {footer['label']}; {REMAKE}")
        add_shared_facts(found, paths[id_], footer, ("pool", "seed", "alpha"))


def read_unselected_targets(unselected_scores: list[Path], models: Path) -> Targets:
    """Return :func:`read_targets` of the scores of unselected items."""
    return read_targets(unselected_scores, models)


def _number(footer: Mapping[str, object], key: str) -> int:
    return int(str(footer.get(key, 0)))


TargetScores = Annotated[Targets, Files(read_targets)]
UnselectedScores = Annotated[Targets, Files(read_unselected_targets)]
