"""The scores of all models of a run as arrays, on the same groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.naturalbench.metrics.groups import MEASURES, OUTCOMES, Floats
from benchc.benchmarks.naturalbench.metrics.readings import NO_OPTION
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS, RANDOM
from benchc.benchmarks.naturalbench.schemas.scores import PLACES, SCORES
from benchc.labels import check_labels
from benchc.progress import track
from benchc.rendering.output import Files
from benchc.schemas.models import Model, read_models
from benchc.schemas.parquet import REMAKE, TableError, read_footer, read_table
from benchc.schemas.predictions import CLEAN
from benchc.schemas.shared_facts import add_shared_facts

Bytes = npt.NDArray[np.int8]
Key = tuple[str, str, int]  # reading, corruption, severity

RIGHT = "right"  # how many of the four answers are right


@dataclass(frozen=True)
class ModelScores:
    """What one model's file of scores contains, by reading, corruption and severity.

    ``found``: int8[groups, 6]: how many answers are right, ``NO_OPTION`` where a reading has no single
    predictions, and the ``OUTCOMES``; ``predicted``: on clean images, int8[groups, 4] with the option of each
    question about each image, ``NO_OPTION`` without an answer.
    """

    found: dict[Key, Bytes]
    predicted: dict[str, Bytes]
    footer: dict[str, Any]


@dataclass(frozen=True)
class RunScores:
    """The models of a run, by id in its order, and the groups: group, subset, type, language, method.

    Groups are those from mined pairs, unless there are none, or random pairs are asked for too.
    """

    models: dict[str, Model]
    groups: pl.DataFrame
    scores: dict[str, ModelScores]

    @property
    def readings(self) -> list[str]:
        """Return the readings that a model has on clean images, in the order of the files."""
        keys = [key for scores in self.scores.values() for key in scores.found]
        return list(dict.fromkeys(reading for reading, corruption, _ in keys if corruption == CLEAN))

    def values(self, model: str, reading: str, corruption: str = CLEAN, severity: int = 0) -> Floats:
        """Return the ``MEASURES`` of each group, float64[groups, 4] in [0, 1]; NaN for what there is not."""
        found = self.scores[model].found.get((reading, corruption, severity))
        if found is None:
            return np.full((self.groups.height, len(MEASURES)), np.nan)
        right, q0, q1, i0, i1, g = found.astype(np.float64).T
        acc = np.where(right == NO_OPTION, np.nan, right / len(PLACES))
        return np.stack([acc, (q0 + q1) / 2, (i0 + i1) / 2, g], axis=1)

    def questions(self, model: str, reading: str) -> Floats:
        """Return whether each question is right on both clean images, float64[groups, 2]; NaN if unknown."""
        found = self.scores[model].found.get((reading, CLEAN, 0))
        if found is None:
            return np.full((self.groups.height, 2), np.nan)
        return found[:, 1:3].astype(np.float64)


def benchmark_groups(groups: pl.DataFrame) -> pl.DataFrame:
    """Return the rows (as GROUPS) of groups from mined pairs, or all where there are none.

    Groups from random pairs are what mined ones are compared with (Table 6), no part of the benchmark.
    """
    mined = groups.filter(pl.col("method") != RANDOM)
    return groups if mined.is_empty() else mined


def read_clean(scores: list[Path], models: Path, groups: Path) -> RunScores:
    """Return the scores on clean images of {model}.parquet, with the labels of models.json.

    Raises InputError where a file is of no model of models.json or of another model than its name, where two
    models have one label, and where two files are of other groups, another pool, seed or alpha.
    """
    return _read(scores, models, groups, corrupted=False)


def read_with_random(scores: list[Path], models: Path, groups: Path) -> RunScores:
    """Return the scores as `read_clean`, also of groups from random pairs."""
    return _read(scores, models, groups, corrupted=False, with_random=True)


def read_corrupted(scores: list[Path], models: Path, groups: Path) -> RunScores:
    """Return the scores as `read_clean`, and those under corruption."""
    return _read(scores, models, groups, corrupted=True)


def _read(
    paths: Sequence[Path], models: Path, groups: Path, *, corrupted: bool, with_random: bool = False
) -> RunScores:
    known = read_models(models).models
    whole = read_table(groups, GROUPS).unique("group", keep="first", maintain_order=True)
    whole = whole.select("group", "subset", "type", "language", "method")
    shown = whole if with_random else benchmark_groups(whole)
    chosen = whole["group"].is_in(shown["group"].implode())
    facts: dict[str, object] = {}
    found: dict[str, ModelScores] = {}
    for path in track(paths, label="scores", unit="files"):
        footer = read_footer(path)
        if path.stem not in known or footer.get("label", path.stem) != path.stem:
            raise TableError(f"{path}: its scores are those of {footer.get('label')}; {REMAKE}")
        add_shared_facts(facts, path, footer, ("pool", "seed", "alpha"))
        table = read_table(path, SCORES)
        if not corrupted:
            table = table.filter(pl.col("corruption") == CLEAN)
        found[path.stem] = _arrays(path, table, whole["group"], chosen, footer)
    check_labels({id_: known[id_].label for id_ in found}, str(models))
    return RunScores({id_: known[id_] for id_ in found}, shown, found)


def _arrays(
    path: Path, table: pl.DataFrame, groups: pl.Series, chosen: pl.Series, footer: dict[str, Any]
) -> ModelScores:
    right = pl.sum_horizontal(pl.col(f"c{place}").cast(pl.Int8) for place in PLACES)
    known = pl.all_horizontal(pl.col(f"c{place}").is_not_null() for place in PLACES)
    table = table.with_columns(pl.when(known).then(right).otherwise(NO_OPTION).alias(RIGHT))
    found: dict[Key, Bytes] = {}
    predicted: dict[str, Bytes] = {}
    for key, rows in table.group_by("reading", "corruption", "severity", maintain_order=True):
        if not rows["group"].equals(groups):
            raise TableError(f"{path}: its groups are not those of the pool; {REMAKE}")
        rows = rows.filter(chosen)
        reading, corruption, severity = str(key[0]), str(key[1]), int(str(key[2]))
        found[reading, corruption, severity] = _bytes(rows.select(RIGHT, *OUTCOMES))
        if corruption == CLEAN and (rows[RIGHT] != NO_OPTION).all():
            predicted[reading] = _bytes(rows.select(f"p{place}" for place in PLACES))
    return ModelScores(found, predicted, footer)


def _bytes(rows: pl.DataFrame) -> Bytes:
    return rows.select(pl.all().cast(pl.Int8).fill_null(NO_OPTION)).to_numpy()


CleanScores = Annotated[RunScores, Files(read_clean)]
ScoresWithRandom = Annotated[RunScores, Files(read_with_random)]
CorruptedScores = Annotated[RunScores, Files(read_corrupted)]
