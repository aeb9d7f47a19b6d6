"""The scores of all models of a run, side by side: each model is scored on the same items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.r_bench.metrics.bootstrap import Draws
from benchc.benchmarks.r_bench.metrics.means import AXES, Axis, Part, part_means, parts_of
from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.errors import InputError
from benchc.labels import check_labels
from benchc.rendering.output import Files
from benchc.schemas.parquet import REMAKE, TableError
from benchc.schemas.shared_facts import tables_by_model
from benchc.statistics.resampling import Floats, item_counts

ROW = ["id", "task", "dimension", "severity"]


@dataclass(frozen=True)
class ScoreFile:
    """The rows of SCORES of one model, sorted by ``ROW``, and their footer."""

    table: pl.DataFrame
    footer: Mapping[str, Any]


@dataclass(frozen=True)
class Scored:
    """The scores of the models of a table.

    Attributes:
        models: labels, in the order of tables
        rows: id, task, dimension and severity of each row, sorted
        absolute: float64[models, rows], the score of the reply to the distorted image (equation 1)
        ref: the same of s_ref
        relative: the same of equation 2
        judges: by label, the footer's judge
        judge_names: by label, the same in words: of a language model, its name
        unreadable: by label, the share of the judgements that have no score and are 0, in [0, 1]
    """

    models: tuple[str, ...]
    rows: pl.DataFrame
    absolute: Floats
    ref: Floats
    relative: Floats
    judges: Mapping[str, str]
    judge_names: Mapping[str, str]
    unreadable: Mapping[str, float]

    @property
    def items(self) -> npt.NDArray[np.int64]:
        """Return the item of each row, from 0: rows of one item are resampled together."""
        return self.rows["id"].rank("dense").cast(pl.Int64).to_numpy() - 1

    def parts(self, axes: Sequence[Axis] = AXES) -> list[Part]:
        """Return the parts of the rows by axis."""
        task, dimension, severity = (self.rows[name].to_list() for name in ROW[1:])
        return parts_of(task, dimension, severity, axes)

    def draws(self, parts: Sequence[Part], draws: int, seed: int) -> Draws:
        """Return the means over each part in the sample itself and in ``draws`` resamples of the items."""
        measures = (self.absolute, self.ref, self.relative)
        return Draws(*(self.means(values, parts, draws, seed) for values in measures))

    def means(self, values: Floats, parts: Sequence[Part], draws: int = 0, seed: int = 0) -> Floats:
        """Return the means of float64[models, rows], float64[1 + draws, models, parts]."""
        counts = item_counts(self.rows["id"].n_unique(), draws, seed)
        return part_means(values, parts, self.items, counts)


def read_scores(scores: list[Path]) -> dict[str, ScoreFile]:
    """Return the scores of models by their ids, which are in the footers.

    Raises InputError where two files are of one model, of other items, or of another pool, seed or alpha.
    """
    found: dict[str, ScoreFile] = {}
    for id_, (path, rows, footer) in tables_by_model(scores, SCORES, "scores").items():
        table = rows.sort(ROW)
        if found and not table.select(ROW).equals(next(iter(found.values())).table.select(ROW)):
            raise TableError(f"{path}: its items or dimensions are not those of the files before; {REMAKE}")
        found[id_] = ScoreFile(table, footer)
    return found


ScoreFiles = Annotated[dict[str, ScoreFile], Files(read_scores)]


def scored_of(found: Mapping[str, ScoreFile], labels: Mapping[str, str]) -> Scored:
    """Return the scores of the models of ``labels``: names by id, in the order of tables.

    Raises InputError where two models have one label, one has no scores, or there is no item.
    """
    check_labels(labels, "the scores")
    if absent := [id_ for id_ in labels if id_ not in found]:
        raise InputError(f"{absent[0]} has no scores; {REMAKE}")
    rows = found[next(iter(labels))].table.select(ROW)
    if rows.is_empty():
        raise InputError("no item has a score; assign at least one item to a dimension")
    absolute, ref, relative = (
        np.stack([found[id_].table[name].to_numpy() for id_ in labels])
        for name in ("absolute", "s_ref", "relative")
    )
    judges = {label: str(found[id_].footer["judge"]) for id_, label in labels.items()}
    names = {label: judge_name(found[id_].footer) for id_, label in labels.items()}
    unreadable = {label: _unreadable(found[id_].footer) for id_, label in labels.items()}
    return Scored(tuple(labels.values()), rows, absolute, ref, relative, judges, names, unreadable)


def _unreadable(footer: Mapping[str, Any]) -> float:
    return int(footer.get("unreadable", 0)) / max(1, int(footer["judgements"]))


def judge_name(footer: Mapping[str, Any]) -> str:
    """Return the judge of a footer in words."""
    words = {"rule": "the rule judge", "human": "people", "published": "another program"}
    judge = str(footer["judge"])
    return words.get(judge) or str(footer.get("judge_model") or judge)
