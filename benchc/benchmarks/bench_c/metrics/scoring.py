"""Score a target's predictions: each corrupted one against the clean prediction of the same item."""

from collections.abc import Sequence
from itertools import chain, product
from typing import NamedTuple

import numpy as np
import polars as pl

from benchc.benchmarks.bench_c.metrics.ras import entropy_and_confidence, ras
from benchc.benchmarks.bench_c.metrics.transitions import regime, transition
from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.logits import Integers, first_names, logit_blocks, name_of, prediction
from benchc.schemas.predictions import CLEAN, KEY


class Grid(NamedTuple):
    """The corrupted predictions that every item must have: each corruption at each severity."""

    corruptions: Sequence[str]
    severities: Sequence[int]


def score(predictions: pl.DataFrame, items: pl.DataFrame, grid: Grid | None = None) -> pl.DataFrame:
    """Return one row per corrupted prediction, as a SCORES table.

    ``predictions``: id, corruption, severity, logits (as in PREDICTIONS), all predictions of one target in
    any order, `clean` at severity 0. ``items``: id, answer (0-based), options (their number), one row per
    item. ``grid``: the corrupted predictions that every item must have; None: all corruptions and severities
    that occur. Rows are in the order of ``items``, then by corruption and severity. Raises InputError, naming
    the predictions, where an item lacks its clean prediction or one of ``grid``, where a prediction occurs
    twice or is of an unknown item, corruption or severity, and where the number of logits is not the item's
    number of options.
    """
    if items["id"].n_unique() != items.height:
        raise InputError(
            f"items occur twice: {items.filter(pl.col('id').is_duplicated())['id'].unique().to_list()}"
        )
    rows, clean_cell = _rows_by_cell(predictions, items, grid)
    cells = len(rows) // items.height
    predictions = predictions.select(*KEY, "logits")[rows].with_columns(
        items.select("answer", "options")[np.repeat(np.arange(items.height), cells)]
    )
    _check_options(predictions)
    measures = _measures(predictions)

    number = np.arange(len(rows))
    corrupted = number[number % cells != clean_cell]
    clean = corrupted - corrupted % cells + clean_cell
    scores: pl.DataFrame = predictions.select(KEY)[corrupted].hstack(measures[corrupted])
    scores = scores.hstack(measures[clean].rename(lambda name: f"{name}_clean"))
    scores = scores.with_columns(
        delta_entropy=pl.col("entropy") - pl.col("entropy_clean"),
        delta_calibration=pl.col("calibration") - pl.col("calibration_clean"),
    )
    return scores.with_columns(
        pl.Series("ras", ras(scores["delta_entropy"].to_numpy(), scores["delta_calibration"].to_numpy())),
        transition(pl.col("correct_clean"), pl.col("correct")).alias("transition"),
        regime(pl.col("delta_entropy"), pl.col("delta_calibration")).alias("regime"),
    ).select(*SCORES.columns)


def complete(
    predictions: pl.DataFrame, items: pl.DataFrame, grid: Grid | None = None
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return the complete items with their predictions, and the sorted ``KEY`` of the missing predictions.

    Returns (predictions, items, missing); arguments as for :func:`score`. An item that lacks a prediction is
    dropped with all of its predictions, so that every mean is over the same items. Raises InputError where no
    item remains, and where a prediction occurs twice or is of an unknown item, corruption or severity.
    """
    missing = _missing(predictions, items, _cells(predictions, grid))
    incomplete = missing.select("id").unique()
    whole = items.join(incomplete, on="id", how="anti", maintain_order="left")
    if whole.is_empty():
        raise InputError(
            f"{_listed(missing, 'missing prediction')}; no item has its clean prediction and one under "
            "every corruption and severity"
        )
    return predictions.join(incomplete, on="id", how="anti", maintain_order="left"), whole, missing


def _measures(predictions: pl.DataFrame) -> pl.DataFrame:
    height = predictions.height
    chosen = np.empty(height, dtype=np.int64)
    max_prob, uncertainty = np.empty(height), np.empty(height)
    answers = predictions["answer"].to_numpy()
    for rows, logits in logit_blocks(predictions):
        chosen[rows] = prediction(logits)
        uncertainty[rows], max_prob[rows] = entropy_and_confidence(logits)
    correct = chosen == answers
    return pl.DataFrame(
        {
            "prediction": chosen,
            "correct": correct,
            "max_prob": max_prob,
            "entropy": uncertainty,
            "calibration": np.abs(correct - max_prob),  # eq. 8
        }
    )


def _rows_by_cell(predictions: pl.DataFrame, items: pl.DataFrame, grid: Grid | None) -> tuple[Integers, int]:
    """Return the rows of ``predictions`` by item, corruption and severity, and the index of the clean cell.

    Raises InputError where ``predictions`` are not each item in each cell once.
    """
    cells = _cells(predictions, grid)
    # Integer codes: joins and sorts of a million strings would dominate the time of scoring.
    names, severities = cells["corruption"].unique().sort(), cells["severity"].unique().sort()
    cell_of = np.full((len(names), len(severities)), -1)
    cell_of[
        names.search_sorted(cells["corruption"]).to_numpy(),
        severities.search_sorted(cells["severity"]).to_numpy(),
    ] = np.arange(cells.height)
    item = predictions["id"].cast(pl.Enum(items["id"]), strict=False).to_physical()
    if item.null_count() == 0 and predictions.height == items.height * cells.height:
        corruption = predictions["corruption"].cast(pl.Enum(names)).to_physical().to_numpy()
        cell = cell_of[corruption, np.searchsorted(severities.to_numpy(), predictions["severity"].to_numpy())]
        position = item.to_numpy().astype(np.int64) * cells.height + cell
        rows = np.full(predictions.height, -1, dtype=np.int64)
        rows[position] = np.arange(predictions.height)
        if (rows >= 0).all():
            return rows, int(cells.with_row_index().filter(corruption=CLEAN)["index"][0])
    _check_keys(predictions, items, cells)
    raise AssertionError("the checks above let an incomplete grid of predictions through")


def _cells(predictions: pl.DataFrame, grid: Grid | None) -> pl.DataFrame:
    """Return every (corruption, severity) that each item must have, clean among them, sorted."""
    wrong = predictions.filter((pl.col("corruption") == CLEAN) != (pl.col("severity") == 0))
    if wrong.height:
        raise InputError(
            f"{name_of(wrong, 0)}: severity 0 is the clean prediction and only that ({wrong.height} "
            "predictions break this)"
        )
    corrupted = predictions.filter(pl.col("corruption") != CLEAN)
    if corrupted.is_empty():
        raise InputError("there are no corrupted predictions to score; pass all files of the model")
    if grid is not None and any(len(set(names)) != len(names) for names in grid):
        raise InputError(
            f"a corruption or severity occurs twice among {', '.join(map(str, chain(*grid)))}; name each once"
        )
    grid = grid or Grid(corrupted["corruption"].unique().to_list(), corrupted["severity"].unique().to_list())
    cells = [(CLEAN, 0), *product(grid.corruptions, grid.severities)]
    schema = {name: predictions.schema[name] for name in ("corruption", "severity")}
    expected = pl.DataFrame(cells, schema=schema, orient="row").sort(pl.all())
    unknown = predictions.join(expected, on=["corruption", "severity"], how="anti")
    if unknown.height:
        raise InputError(
            f"{_listed(unknown, 'prediction', ' under corruptions or severities that the run lacks')}; they "
            "belong to another configuration"
        )
    return expected


def _check_keys(predictions: pl.DataFrame, items: pl.DataFrame, cells: pl.DataFrame) -> None:
    missing = _missing(predictions, items, cells)
    if missing.height:
        raise InputError(
            f"{_listed(missing, 'missing prediction')}; every item of the subset needs its clean "
            "prediction and one under every corruption and severity (or set scores.allow_missing to true to "
            "exclude the items that lack one)"
        )


def _missing(predictions: pl.DataFrame, items: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """Return the sorted ``KEY`` of missing predictions; raise InputError for repeated or unknown ones."""
    repeated = predictions.select(*KEY).filter(pl.struct(KEY).is_duplicated()).unique()
    if repeated.height:
        raise InputError(f"{_listed(repeated, 'repeated prediction')}; pass each file of predictions once")
    unknown = predictions.select(*KEY).join(items, on="id", how="anti")
    if unknown.height:
        raise InputError(
            f"{_listed(unknown, 'prediction', ' of items outside the subset')}; they belong to another "
            "selection or sample"
        )
    expected = items.select("id").join(cells, how="cross")
    return expected.join(predictions, on=KEY, how="anti").sort(KEY)


def _check_options(predictions: pl.DataFrame) -> None:
    wrong = predictions.filter(pl.col("logits").list.len() != pl.col("options"))
    if wrong.height:
        raise InputError(
            f"{name_of(wrong, 0)} has {len(wrong['logits'][0])} logits, its item has {wrong['options'][0]} "
            f"options ({pluralize(wrong.height, 'prediction')} like this): the predictions are of "
            "another pool"
        )
    # An item without an answer would count as answered incorrectly by every model.
    wrong = predictions.filter(~pl.col("answer").is_between(0, pl.col("options") - 1).fill_null(value=False))
    if wrong.height:
        raise InputError(
            f"item {wrong['id'][0]}: answer {wrong['answer'][0]} is not one of its {wrong['options'][0]} "
            "options"
        )


def _listed(keys: pl.DataFrame, noun: str, which: str = "") -> str:
    return f"{pluralize(keys.height, noun)}{which}: {first_names(keys)}"
