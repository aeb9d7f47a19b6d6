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
from benchc.schemas.grid import Cell, grid_rows, missing_keys
from benchc.schemas.logits import first_names, logit_blocks, name_of, prediction
from benchc.schemas.predictions import CLEAN, KEY

MEND = "pass all files of predictions of this run and subset, each once"
FILL = (
    "every item of the subset needs its clean prediction and one under every corruption and severity (or set "
    "scores.allow_missing to true to exclude the items that lack one)"
)


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
    all_cells = _cells(predictions, grid)
    rows = grid_rows(predictions, items["id"], all_cells, "prediction", mend=MEND, fill=FILL).ravel()
    cells, clean_cell = len(all_cells), all_cells.index((CLEAN, 0))
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
    missing = missing_keys(predictions, items["id"], _cells(predictions, grid), "prediction", mend=MEND)
    incomplete = missing.select("id").unique()
    whole = items.join(incomplete, on="id", how="anti", maintain_order="left")
    if whole.is_empty():
        raise InputError(
            f"{pluralize(missing.height, 'missing prediction')}: {first_names(missing)}; no item has its "
            "clean prediction and one under every corruption and severity"
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


def _cells(predictions: pl.DataFrame, grid: Grid | None) -> list[Cell]:
    """Return every (corruption, severity) that each item must have, clean among them, sorted."""
    wrong = predictions.filter((pl.col("corruption") == CLEAN) != (pl.col("severity") == 0))
    if wrong.height:
        raise InputError(
            f"{name_of(wrong, 0)}: severity 0 is the clean prediction and only that ({wrong.height} "
            "predictions break this)"
        )
    corrupted = predictions.filter(pl.col("corruption") != CLEAN)
    if corrupted.is_empty():
        raise InputError("there are no corrupted predictions to score; add those under corruptions")
    if grid is not None and any(len(set(names)) != len(names) for names in grid):
        raise InputError(
            f"a corruption or severity occurs twice among {', '.join(map(str, chain(*grid)))}; name each once"
        )
    grid = grid or Grid(corrupted["corruption"].unique().to_list(), corrupted["severity"].unique().to_list())
    return sorted([(CLEAN, 0), *product(grid.corruptions, grid.severities)])


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
