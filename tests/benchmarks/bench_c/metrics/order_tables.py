"""Predictions of items in every circular order of their options, drawn with a seed."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

PREDICTIONS = {
    "id": pl.String,
    "corruption": pl.String,
    "severity": pl.Int64,
    "order": pl.Int64,
    "logits": pl.List(pl.Float64),
}


def items_of(options: Sequence[int], seed: int = 0) -> pl.DataFrame:
    """Items s/0, s/1, ... with these numbers of options."""
    generator = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": [f"s/{number}" for number in range(len(options))],
            "answer": [int(generator.integers(count)) for count in options],
            "options": list(options),
        }
    )


def predictions_of(logits: Mapping[tuple[str, str, int, int], Sequence[float]]) -> pl.DataFrame:
    """Predictions by (id, corruption, severity, order)."""
    return pl.DataFrame(
        [(*key, list(value)) for key, value in logits.items()], schema=PREDICTIONS, orient="row"
    )


def drawn_predictions(
    items: pl.DataFrame, seed: int, corruptions: Sequence[str] = ("fog", "snow"), severity: int = 5
) -> pl.DataFrame:
    """All orders of all items, clean and corrupted."""
    generator = np.random.default_rng(seed)
    cells = [("clean", 0), *((name, severity) for name in corruptions)]
    return predictions_of(
        {
            (id_, corruption, level, order): generator.normal(0, 2, options).tolist()
            for id_, options in items.select("id", "options").rows()
            for corruption, level in cells
            for order in range(options)
        }
    )
