"""Discriminative power κ: the inconsistency of selectors under corruption (Bench-C, eq. 4 and 5)."""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.bench_c.schemas.kappa import KAPPA
from benchc.errors import InputError, recreate
from benchc.schemas.grid import grid_rows, in_cells
from benchc.schemas.logits import Floats, Integers, logit_blocks, name_of, prediction
from benchc.schemas.predictions import KEY

SEVERITIES = (1, 2, 3, 4, 5)
FOLDER = "predictions/pool"


def gini(predictions: npt.ArrayLike, options: npt.ArrayLike) -> Floats:
    """Return the Gini impurity of M predictions over its largest value, float64[...] in [0, 1] (eq. 4).

    ``predictions``: int[..., M], 0-based options; ``options``: int, the number K of options, of a shape that
    broadcasts to the leading axes of ``predictions``. Exactly 0 where all M predictions agree. Raises
    InputError for K < 2, M = 0, or a prediction outside [0, K).
    """
    chosen = np.asarray(predictions)
    count = np.asarray(options)
    if chosen.ndim == 0 or chosen.shape[-1] == 0:
        raise InputError(
            f"gini needs at least one prediction along the last axis, the shape is {chosen.shape}"
        )
    if not (np.issubdtype(chosen.dtype, np.integer) and np.issubdtype(count.dtype, np.integer)):
        raise InputError(f"gini needs integers, not {chosen.dtype} predictions and {count.dtype} options")
    count = count.astype(np.int64)  # a narrow type would overflow below
    if (count < 2).any():
        raise InputError(f"gini is undefined for fewer than two options, found {count.min()}")
    if ((chosen < 0) | (chosen >= count[..., np.newaxis])).any():
        raise InputError("a prediction is not one of the item's options: predictions are 0-based and below K")
    # M² Σ_k π_k² counts the ordered pairs of predictions that agree. With integers up to the one division,
    # agreement gives exactly 0 and rounding never exceeds 1.
    pairs = chosen.shape[-1] ** 2
    disagreeing = pairs - (chosen[..., :, np.newaxis] == chosen[..., np.newaxis, :]).sum(axis=(-2, -1))
    return np.asarray(disagreeing * count / (pairs * (count - 1)), dtype=np.float64)


def kappa(
    predictions: Mapping[str, pl.DataFrame],
    items: pl.DataFrame,
    corruptions: Sequence[str],
    severities: Sequence[int] = SEVERITIES,
) -> pl.DataFrame:
    """Return the discriminative power of every item with its parts, as a KAPPA table (eq. 5).

    ``predictions``: by selector, the columns id, corruption, severity, logits (as in PREDICTIONS), rows in
    any order; ``items``: id and options (their number), one row per item, in the order of the result. Only
    the given corruptions and severities count. kappa is the mean over selectors (outermost, in the mapping's
    order) and corruptions (in the given order), summed in that order; it is exactly 0 where every selector
    keeps its prediction over the severities of every corruption. Raises InputError for a single severity,
    and, naming the predictions, where one is missing, repeated, of an unknown item, or has not one logit per
    option.
    """
    if not predictions or not corruptions or not severities:
        raise InputError("kappa needs at least one selector, one corruption and one severity")
    if "clean" in corruptions or 0 in severities:
        raise InputError("clean predictions (severity 0) do not count in kappa; leave them out of the lists")
    counted = [*corruptions, *map(str, severities)]
    if len(set(counted)) != len(counted):
        raise InputError(
            f"a corruption or severity occurs twice among {', '.join(counted)} and would count twice; name "
            "each once"
        )
    if len(severities) == 1:
        raise InputError(
            f"severity {severities[0]} alone gives every item kappa 0, since kappa measures changes of the "
            "answer between severities; give at least two"
        )
    options = items["options"].to_numpy()[:, np.newaxis]
    parts = np.stack(
        [
            gini(_predictions(selector, frame, items, corruptions, severities), options)
            for selector, frame in predictions.items()
        ],
        axis=1,
    )  # [items, selectors, corruptions]
    names = pl.DataFrame({"selector": list(predictions)}).join(
        pl.DataFrame({"corruption": list(corruptions)}), how="cross", maintain_order="left_right"
    )
    flat = parts.reshape(items.height, -1)
    gini_column = (
        pl.DataFrame({"item": np.repeat(np.arange(items.height), flat.shape[1]), "gini": flat.ravel()})
        .with_columns(
            pl.Series("selector", names["selector"].to_list() * items.height, dtype=pl.String),
            pl.Series("corruption", names["corruption"].to_list() * items.height, dtype=pl.String),
        )
        .group_by("item", maintain_order=True)
        .agg(pl.struct("selector", "corruption", "gini").alias("gini"))["gini"]
    )
    return pl.DataFrame(
        [items["id"], pl.Series("kappa", _row_means(flat)), gini_column], schema_overrides=dict(KAPPA.columns)
    )


def _row_means(values: Floats) -> Floats:
    """Return the mean of every row, its columns added from left to right."""
    total = np.zeros(len(values))
    for column in values.T:
        total += column
    return np.asarray(total / values.shape[1])


def _predictions(
    selector: str,
    predictions: pl.DataFrame,
    items: pl.DataFrame,
    corruptions: Sequence[str],
    severities: Sequence[int],
) -> Integers:
    """Return the predictions of one selector, int64[items, corruptions, severities]."""
    cells = [*product(corruptions, severities)]
    predictions = in_cells(predictions, cells)
    mend = f"every item of the pool needs one under every corruption and severity: {recreate(FOLDER)}"
    what = f"selector {selector}: prediction"
    rows = grid_rows(predictions, items["id"], cells, what, mend=mend).ravel()
    found = predictions.select(*KEY, "logits")[rows].with_columns(
        items["options"].gather(np.repeat(np.arange(items.height), len(cells)))
    )
    wrong = found.filter(pl.col("logits").list.len() != pl.col("options"))
    if wrong.height:
        raise InputError(
            f"selector {selector}: {name_of(wrong, 0)} has {len(wrong['logits'][0])} logits, its item has "
            f"{wrong['options'][0]} options: {recreate(FOLDER)}"
        )
    chosen = np.empty(found.height, dtype=np.int64)
    for rows, logits in logit_blocks(found):
        chosen[rows] = prediction(logits)
    return chosen.reshape(items.height, len(corruptions), len(severities))
