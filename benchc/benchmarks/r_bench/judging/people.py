"""Answers of people to the distorted images: the human row of Table 4."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from benchc.benchmarks.r_bench.judging.comparisons import Comparison, Item
from benchc.benchmarks.r_bench.judging.options import FEWEST
from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.csv_rows import read_rows
from benchc.errors import InputError
from benchc.schemas.predictions import CLEAN, KEY


def people_comparisons(path: Path, cells: pl.DataFrame, items: Mapping[str, Item]) -> list[Comparison]:
    """Return the answers of a person, compared with the truth.

    ``path``: a CSV file with id and answer, one row for each assigned item; ``cells``: KEY of the assigned
    cells and of the clean images. Raises InputError where ids differ, or an item has several cells.
    """
    shown = cells.filter(pl.col("corruption") != CLEAN)
    if (several := shown.filter(pl.col("id").is_duplicated())).height:
        raise InputError(
            f"item {several['id'][0]} is shown under several dimensions, but answers of people name items "
            "alone; give assignment.per_item: 1, or remove `people`"
        )
    answers: dict[str, str] = {}
    known = set(shown["id"])
    for number, row in read_rows(path, ("id", "answer")):
        if row["id"] in answers:
            raise InputError(f"{path}: row {number}: {row['id']!r} has a second answer; remove one")
        if row["id"] not in known:
            raise InputError(f"{path}: row {number}: {row['id']!r} is no assigned item; remove the row")
        answers[row["id"]] = row["answer"]
    found = []
    for id_, corruption, severity in shown.select(KEY).iter_rows():
        if id_ not in answers:
            raise InputError(f"{path}: has no answer to {id_}; add a row, with an empty answer for none")
        found += [
            Comparison(items[id_], corruption, severity, "dis", number, answers[id_], truth)
            for number, truth in enumerate(items[id_].truths)
        ]
    return found


def people_scores(scores: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return rows of SCORES: the mean of people by item, without the best and the worst of them overall.

    Their relative score and its parts are null, as people see no reference images. Of equal people, the first
    is the best and the last the worst.

    ``scores``: of each person, at least three, in one order: id, task, corruption, severity and s_dis.
    """
    if len(scores) < FEWEST:
        raise InputError(
            f"people: {len(scores)} given, but the best and the worst are left out; give at least {FEWEST}"
        )
    ranked = sorted(scores, key=lambda one: -one["s_dis"].mean())  # type: ignore[operator]
    kept = pl.concat(ranked[1:-1]).group_by("id", "task", "corruption", "severity", maintain_order=True)
    means = kept.agg(pl.col("s_dis").mean())
    none = pl.lit(None, dtype=pl.Float64)
    return means.with_columns(
        dimension="corruption", absolute="s_dis", s_ref=none, s_com=none, relative=none
    ).select(pl.col(name).cast(dtype) for name, dtype in SCORES.columns.items())
