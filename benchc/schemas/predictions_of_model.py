"""Read all predictions of one model, which lie in one file a batch, and refuse to mix two models."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from benchc.progress import track
from benchc.schemas.parquet import TableError, read_footer, read_table
from benchc.schemas.predictions import PREDICTIONS

# What a job's footer says that may differ from batch to batch: its size, and the device it happened to get,
# on another of which predictions agree within 1e-4.
MAY_DIFFER = {"predictions", "oom_splits", "device"}


def read_predictions(paths: Iterable[Path], columns: Sequence[str]) -> pl.DataFrame:
    """Return the given columns of one model's batches, in the order of ``paths``, at least one.

    Raises TableError where two files were made by different weights, libraries, or sources of the scorer:
    a shift between their predictions would not be the corruption's.
    """
    frames, first, first_footer = [], None, {}
    for path in paths:
        frames.append(read_table(path, PREDICTIONS).select(columns))
        footer = {key: value for key, value in read_footer(path).items() if key not in MAY_DIFFER}
        if first is None:
            first, first_footer = path, footer
        for key in sorted(footer.keys() | first_footer.keys()):
            if footer.get(key) != first_footer.get(key):
                raise TableError(
                    f"{path}: its {key} is {footer.get(key)}, that of {first} is {first_footer.get(key)}; "
                    "delete the older of the two and make it again"
                )
    return pl.concat(frames)


def read_all_predictions(paths: Sequence[Path]) -> pl.DataFrame:
    """Return id, corruption, severity and logits of all batches of one model, with a line of progress."""
    files = track(paths, label="predictions", unit="files")
    return read_predictions(files, ["id", "corruption", "severity", "logits"])
