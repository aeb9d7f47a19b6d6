"""Read all predictions of one model, in one or more files; files made by different models are an error."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.schemas.parquet import TableError, read_footer, read_table
from benchc.schemas.predictions import PREDICTIONS

# What may differ between the files of a model: their size, what other code with the same results computed,
# and the instructions of the CPU, which change the last bits alone and which a cluster's user cannot choose.
MAY_DIFFER = {"predictions", "oom_splits", "adopted", "cpu_capability"}


def read_predictions(paths: Iterable[Path], columns: Sequence[str]) -> pl.DataFrame:
    """Return the given columns of the files of one model, in the order of ``paths``, at least one.

    Raises TableError where two files were made with different weights, libraries, code, or on different
    devices: a difference between their predictions could then have other causes than the corruption.
    """
    frames: list[pl.DataFrame] = []
    footers: dict[Path, Mapping[str, object]] = {}
    for path in paths:
        frames.append(read_table(path, PREDICTIONS).select(columns))
        footers[path] = read_footer(path)
    _check_devices({path: str(footer.get("device")) for path, footer in footers.items()})
    first = next(iter(footers))
    for path, footer in footers.items():
        for key in sorted((footer.keys() | footers[first].keys()) - MAY_DIFFER):
            if footer.get(key) != footers[first].get(key):
                raise TableError(
                    f"{path}: its {key} is {footer.get(key)}, that of {first} is {footers[first].get(key)}; "
                    "delete the older of the two and run snakemake again"
                )
    return pl.concat(frames)


def _check_devices(devices: Mapping[Path, str]) -> None:
    """Raise TableError where files of one model were made on several devices, naming the fewer ones."""
    files: dict[str, list[Path]] = {}
    for path, device in devices.items():
        files.setdefault(device, []).append(path)
    if len(files) > 1:
        kept = max(files, key=lambda device: len(files[device]))
        again = [path for path, device in devices.items() if device != kept]
        counts = ", ".join(f"{device} ({pluralize(len(paths), 'file')})" for device, paths in files.items())
        raise TableError(
            f"{again[0].parent}: predictions of one model from {len(files)} devices, which differ in their "
            f"last digits: {counts}; delete {' '.join(map(str, again))} and run snakemake again on {kept}, "
            "or delete all files of the model"
        )


def read_all_predictions(paths: Sequence[Path]) -> pl.DataFrame:
    """Return id, corruption, severity and logits of all files of one model, showing progress."""
    files = track(paths, label="predictions", unit="files")
    return read_predictions(files, ["id", "corruption", "severity", "logits"])
