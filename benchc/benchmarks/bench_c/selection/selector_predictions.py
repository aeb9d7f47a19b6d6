"""The selectors' predictions on the pool, and the number of options of its items."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchc.errors import InputError
from benchc.progress import track
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions_of_model import read_predictions


def read_by_selector(paths: Sequence[Path], selectors: Sequence[str]) -> dict[str, pl.DataFrame]:
    """Return id, corruption, severity and logits of every selector, in the order of ``selectors``.

    A file's folder has its selector's name. Raises InputError where a selector is named twice or has no file,
    and where a file belongs to none.
    """
    found: dict[str, list[Path]] = {selector: [] for selector in selectors}
    named = " ".join(selectors)
    if len(found) != len(selectors):
        raise InputError(f"selectors: one occurs twice: {named}; name each once")
    for path in paths:
        if path.parent.name not in found:
            raise InputError(
                f"{path}: its folder is named {path.parent.name}, which is not one of the selectors {named}; "
                "leave the file out, or name its selector"
            )
        found[path.parent.name].append(path)
    missing = [selector for selector, files in found.items() if not files]
    if missing:
        raise InputError(
            f"predictions: no file is in a folder named {' or '.join(missing)}; give the predictions of all "
            f"{len(found)} selectors"
        )
    return {
        selector: read_predictions(files, ["id", "corruption", "severity", "logits"])
        for selector, files in track(found.items(), label="predictions", unit="selectors")
    }


def read_option_counts(pool: Path) -> pl.DataFrame:
    """Return the id and the number of options of every item, in the order of the pool."""
    return read_table(pool, POOL, ["id", "options"]).select("id", pl.col("options").list.len().cast(pl.Int64))
