"""The selectors' predictions of the pool, and how many options its items have."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchc.errors import InputError
from benchc.progress import track
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions_of_model import read_predictions


def read_by_selector(paths: Sequence[Path], selectors: Sequence[str]) -> dict[str, pl.DataFrame]:
    """Return id, corruption, severity and logits of every selector's predictions, in the order of ``selectors``.

    The folder of a file names its selector. Raises InputError where a selector is named twice, a file
    belongs to none of them, or one has no file.
    """
    found: dict[str, list[Path]] = {selector: [] for selector in selectors}
    named = " ".join(selectors)
    if len(found) != len(selectors):
        raise InputError(f"selectors: one occurs twice: {named}; name each once")
    for path in paths:
        if path.parent.name not in found:
            raise InputError(
                f"{path}: lies in the folder of {path.parent.name}, which is not one of the selectors "
                f"{named}; leave the file out, or name its selector"
            )
        found[path.parent.name].append(path)
    missing = [selector for selector, files in found.items() if not files]
    if missing:
        raise InputError(
            f"predictions: no file lies in a folder named {' or '.join(missing)}; give the predictions of "
            f"all {len(found)} selectors"
        )
    return {
        selector: read_predictions(files, ["id", "corruption", "severity", "logits"])
        for selector, files in track(found.items(), label="predictions", unit="selectors")
    }


def read_option_counts(pool: Path) -> pl.DataFrame:
    """Return the id of every item of the pool and how many options it has, in the order of the pool."""
    return read_table(pool, POOL, ["id", "options"]).select("id", pl.col("options").list.len().cast(pl.Int64))
