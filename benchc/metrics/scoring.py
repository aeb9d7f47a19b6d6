"""From a target's reads to its scores: every corrupted read beside the clean read of the same item."""

import numpy as np
import polars as pl

from benchc.errors import InputError
from benchc.metrics.logits import logit_blocks, name_of, prediction
from benchc.metrics.ras import calibration_error, entropy, probabilities, ras
from benchc.metrics.transitions import regime, transition
from benchc.tables.scores import SCORES

CLEAN = "clean"
KEY = ("id", "corruption", "severity")
NAMED = 5  # how many keys a message lists


def score(reads: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Return one row per corrupted read, as a SCORES table.

    ``reads``: id, corruption, severity, logits (as in PREDICTIONS), all reads of one target in any order,
    `clean` at severity 0. ``items``: id, answer (0-based), options (their number), one row per item.
    Rows are sorted by the order of ``items``, then corruption by name, then severity, so that batching
    changes nothing. Raises InputError, naming the reads, where an item lacks its clean read, where not every
    item was read under every (corruption, severity) that occurs, where a read occurs twice or is of an
    unknown item, and where the number of logits is not the item's number of options.
    """
    _check_keys(reads, items)
    cells = _cells(reads)
    reads = (
        reads.select(*KEY, "logits")
        .join(items.with_row_index("item").select("id", "item", "answer", "options"), on="id")
        .sort("item", "corruption", "severity")
    )
    _check_options(reads)
    reads = reads.drop("logits").with_columns(_measures(reads))
    measures = ("prediction", "correct", "max_prob", "entropy", "calibration")
    clean = reads.filter(pl.col("corruption") == CLEAN).select("id", *measures)
    scores = reads.filter(pl.col("corruption") != CLEAN).join(
        clean, on="id", suffix="_clean", how="left", maintain_order="left"
    )
    if scores.height != items.height * cells.height:
        raise AssertionError("the checks above let an incomplete grid of reads through")
    scores = scores.with_columns(
        delta_entropy=pl.col("entropy") - pl.col("entropy_clean"),
        delta_calibration=pl.col("calibration") - pl.col("calibration_clean"),
    )
    return scores.with_columns(
        pl.Series("ras", ras(scores["delta_entropy"].to_numpy(), scores["delta_calibration"].to_numpy())),
        transition(pl.col("correct_clean"), pl.col("correct")).alias("transition"),
        regime(pl.col("delta_entropy"), pl.col("delta_calibration")).alias("regime"),
    ).select(*SCORES.columns)


def _measures(reads: pl.DataFrame) -> list[pl.Series]:
    height = reads.height
    chosen = np.empty(height, dtype=np.int64)
    max_prob, uncertainty, calibration = (np.empty(height) for _ in range(3))
    answers = reads["answer"].to_numpy()
    for rows, logits in logit_blocks(reads):
        chosen[rows] = prediction(logits)
        max_prob[rows] = probabilities(logits).max(axis=-1)
        uncertainty[rows] = entropy(logits)
        calibration[rows] = calibration_error(logits, answers[rows])
    return [
        pl.Series("prediction", chosen),
        pl.Series("correct", chosen == answers),
        pl.Series("max_prob", max_prob),
        pl.Series("entropy", uncertainty),
        pl.Series("calibration", calibration),
    ]


def _cells(reads: pl.DataFrame) -> pl.DataFrame:
    """Return every (corruption, severity) that each item must have: all severities of all corruptions."""
    wrong = reads.filter((pl.col("corruption") == CLEAN) != (pl.col("severity") == 0))
    if wrong.height:
        raise InputError(
            f"{name_of(wrong, 0)}: severity 0 is the clean read and only that "
            f"({wrong.height} reads break this)"
        )
    corrupted = reads.filter(pl.col("corruption") != CLEAN)
    if corrupted.is_empty():
        raise InputError("there are no corrupted reads to score; pass the files of all batches")
    return (
        corrupted.select("corruption")
        .unique()
        .join(corrupted.select("severity").unique(), how="cross")
        .sort(pl.all())
    )


def _check_keys(reads: pl.DataFrame, items: pl.DataFrame) -> None:
    if items["id"].n_unique() != items.height:
        raise InputError(
            f"items occur twice: {items.filter(pl.col('id').is_duplicated())['id'].unique().to_list()}"
        )
    repeated = reads.select(*KEY).filter(pl.struct(KEY).is_duplicated()).unique()
    if repeated.height:
        raise InputError(f"{_listed(repeated, 'reads occur twice')}; pass each file of predictions once")
    unknown = reads.select(*KEY).join(items, on="id", how="anti")
    if unknown.height:
        raise InputError(
            f"{_listed(unknown, 'reads are of items that are not selected')}; they were made for another "
            "selection: make the predictions again"
        )
    cells = _cells(reads)
    clean = pl.DataFrame({"corruption": [CLEAN], "severity": [0]}, schema=cells.schema)
    expected = items.select("id").join(pl.concat([clean, cells]), how="cross")
    missing = expected.join(reads, on=KEY, how="anti")
    if missing.height:
        raise InputError(
            f"{_listed(missing, 'reads are missing')}; every selected item needs its clean read and one "
            "under every corruption and severity: make the predictions again"
        )


def _check_options(reads: pl.DataFrame) -> None:
    wrong = reads.filter(pl.col("logits").list.len() != pl.col("options"))
    if wrong.height:
        raise InputError(
            f"{name_of(wrong, 0)} has {len(wrong['logits'][0])} logits, its item has "
            f"{wrong['options'][0]} options ({wrong.height} reads like this): the predictions are of "
            "another pool, make them again"
        )
    wrong = reads.filter(~pl.col("answer").is_between(0, pl.col("options") - 1))
    if wrong.height:
        raise InputError(
            f"item {wrong['id'][0]}: answer {wrong['answer'][0]} is not one of its "
            f"{wrong['options'][0]} options"
        )


def _listed(keys: pl.DataFrame, what: str) -> str:
    named = keys.sort(KEY).head(NAMED)
    names = ", ".join(name_of(named, row) for row in range(named.height))
    return f"{keys.height:,} {what}: {names}{', …' if keys.height > NAMED else ''}"
