"""Judgements of another program, in the authors' format: one CSV file each of dis, ref and com."""

import sys
from collections.abc import Iterator, Mapping
from math import nan
from pathlib import Path

import polars as pl

from benchc.benchmarks.r_bench.judging.comparisons import Item
from benchc.benchmarks.r_bench.judging.judgement import Judgement
from benchc.benchmarks.r_bench.judging.prompts import SCORES
from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.csv_rows import read_rows
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.predictions import CLEAN

COLUMNS = ("name", "result")


def read_results(path: Path) -> dict[str, float]:
    """Return the scores of items, in [0, 1], by the names of their images.

    Raises InputError, with the row, for a name that is there twice, or a result outside [0, 1].
    """
    found: dict[str, float] = {}
    for number, row in read_rows(path, COLUMNS):
        name, text = row["name"], row["result"]
        if name in found:
            raise InputError(f"{path}: row {number}: {name!r} is there twice; remove one")
        try:
            found[name] = float(text)
        except ValueError:
            found[name] = nan
        if not 0 <= found[name] <= 1:
            raise InputError(f"{path}: row {number}: {name!r} has the result {text!r}, no number in 0..1")
    return found


def released_judgements(
    cells: pl.DataFrame, items: Mapping[str, Item], files: Mapping[str, Path]
) -> pl.DataFrame:
    """Return one row of JUDGE_SCORES for each item and kind.

    A name is the item's id after its source, with or without an ending such as .jpg. Raises InputError for an
    item without a result or with two, a result of two items, a result of an mcq item that is not 0 or 1, or
    an item with several cells. Results without an item are counted on stderr.

    Args:
        cells: KEY of the assigned cells and of the clean images
        items: of the run by id
        files: of each kind
    """
    shown = cells.filter(pl.col("corruption") != CLEAN)
    if (several := shown.filter(pl.col("id").is_duplicated())).height:
        raise InputError(
            f"item {several['id'][0]} is shown under several dimensions, but judgements name items alone; "
            "give judgements of the released pairs (pairs: released)"
        )
    rows = [row for kind, path in files.items() for row in _rows(shown, items, kind, path)]
    return pl.DataFrame(rows, schema=pl.Schema(JUDGE_SCORES.columns), orient="row")


def _rows(
    shown: pl.DataFrame, items: Mapping[str, Item], kind: str, path: Path
) -> Iterator[tuple[object, ...]]:
    results = read_results(path)
    by_stem: dict[str, list[str]] = {}
    for name in results:
        by_stem.setdefault(Path(name).stem, []).append(name)
    used: dict[str, str] = {}
    for id_, corruption, severity in shown.iter_rows():
        own = id_.partition("/")[2]
        # Of an id such as 12.1, the whole comes first.
        names = [own] if own in results else by_stem.get(own) or by_stem.get(Path(own).stem, [])
        if not names:
            raise InputError(f"{path}: has no result of item {id_}; add a row with the name {own}")
        if len(names) > 1:
            raise InputError(f"{path}: {names[0]!r} and {names[1]!r} may be item {id_}; remove one row")
        (name,) = names
        if used.setdefault(name, id_) != id_:
            raise InputError(
                f"{path}: {name!r} may be item {used[name]} or {id_}; give each a row with its whole name"
            )
        task = items[id_].task
        if task == "mcq" and results[name] not in (0, 1):
            raise InputError(
                f"{path}: {name!r} has the result {results[name]:g}, but it is a multiple-choice item; give "
                "its majority, 0 or 1"
            )
        cell = (CLEAN, 0) if kind == "ref" else (corruption, severity)
        score = results[name] * max(SCORES[task])
        yield (id_, task, *cell, kind, 0, 0, "published", *Judgement(score))
    if more := [name for name in results if name not in used]:
        # Such as of an item whose right option is missing, which the authors' files have.
        print(
            f"note: {path}: {pluralize(len(more), 'result')} of no item of the run, such as that of "
            f"{more[0]!r}, not used",
            file=sys.stderr,
        )
