"""Read all predictions of one model, in one or more files. Files of different models are an error."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import polars as pl

from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.schemas.parquet import TableError, read_footer, read_table
from benchc.schemas.predictions import PREDICTIONS

# What may differ between the files of a model: their size, what other code with the same results computed,
# and the instructions of the CPU, which change the last bits alone and which a cluster's user cannot choose.
MAY_DIFFER = {"predictions", "answers", "oom_splits", "adopted", "cpu_capability"}


def read_predictions(paths: Iterable[Path], columns: Sequence[str]) -> pl.DataFrame:
    """Return the given columns of the files of one model, in the order of ``paths``, at least one.

    Raises TableError as :func:`check_origin`.
    """
    frames: list[pl.DataFrame] = []
    footers: dict[Path, Mapping[str, object]] = {}
    for path in paths:
        frames.append(read_table(path, PREDICTIONS).select(columns))
        footers[path] = read_footer(path)
    check_origin(footers)
    return pl.concat(frames)


def check_answers(paths: Iterable[Path]) -> None:
    """Raise TableError as :func:`check_origin` where files of one folder differ.

    ``paths``: files of answers of one model. Those of another subset, in another folder, may be to other
    prompts.
    """
    for _, files in groupby(sorted(paths), lambda path: path.parent):
        check_origin({path: read_footer(path) for path in files})


def check_origin(footers: Mapping[Path, Mapping[str, object]]) -> None:
    """Raise TableError where two files were made with different weights, libraries, code, or devices.

    A difference between their predictions, or answers, could then have other causes than the corruption.
    ``footers``: of the files of one model, at least one.
    """
    what = "answers" if any("answers" in footer for footer in footers.values()) else "predictions"
    _check_devices({path: str(footer.get("device")) for path, footer in footers.items()}, what)
    first = next(iter(footers))
    for path, footer in footers.items():
        for key in sorted((footer.keys() | footers[first].keys()) - MAY_DIFFER):
            if footer.get(key) != footers[first].get(key):
                raise TableError(
                    f"{path}: its {key} is {footer.get(key)}, that of {first} is {footers[first].get(key)}; "
                    "delete the older of the two and run snakemake again"
                )


def _check_devices(devices: Mapping[Path, str], what: str) -> None:
    """Raise TableError where files of one model were made on several devices, naming the fewer ones."""
    files: dict[str, list[Path]] = {}
    for path, device in devices.items():
        files.setdefault(device, []).append(path)
    if len(files) > 1:
        kept = max(files, key=lambda device: len(files[device]))
        again = [path for path, device in devices.items() if device != kept]
        counts = ", ".join(f"{device} ({pluralize(len(paths), 'file')})" for device, paths in files.items())
        raise TableError(
            f"{again[0].parent}: {what} of one model from {len(files)} devices, which differ in their "
            f"last digits: {counts}; delete {' '.join(map(str, again))} and run snakemake again on {kept}, "
            "or delete all files of the model"
        )


def read_all_predictions(paths: Sequence[Path]) -> pl.DataFrame:
    """Return id, corruption, severity and logits of all files of one model, showing progress."""
    files = track(paths, label="predictions", unit="files")
    return read_predictions(files, ["id", "corruption", "severity", "logits"])
