"""Read all predictions of one model, in one or more files; files made by different models are an error."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from benchc.progress import track
from benchc.schemas.parquet import TableError, read_footer, read_table
from benchc.schemas.predictions import PREDICTIONS

# What may differ between the files of a model: their size, and the device, as devices agree within 1e-4.
MAY_DIFFER = {"predictions", "oom_splits", "device"}


def read_predictions(paths: Iterable[Path], columns: Sequence[str]) -> pl.DataFrame:
    """Return the given columns of the files of one model, in the order of ``paths``, at least one.

    Raises TableError where two files were made with different weights, libraries or code: a difference
    between their predictions could then have other causes than the corruption.
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
                    "delete the older of the two and run snakemake again"
                )
    return pl.concat(frames)


def read_all_predictions(paths: Sequence[Path]) -> pl.DataFrame:
    """Return id, corruption, severity and logits of all files of one model, showing progress."""
    files = track(paths, label="predictions", unit="files")
    return read_predictions(files, ["id", "corruption", "severity", "logits"])
