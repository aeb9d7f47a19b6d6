"""The label mass of a model's predictions."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl

from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.predictions import CLEAN, PREDICTIONS


def clean_label_mass(paths: Iterable[Path]) -> float | None:
    """Return the mean label mass over a model's clean predictions, in [0, 1].

    None for a model without files, and for one that is scored by texts, whose mass is that of whole answers.
    """
    letters = [path for path in paths if read_footer(path).get("scoring") == "letter"]
    if not letters:
        return None
    rows = pl.concat(read_table(path, PREDICTIONS, ["corruption", "label_mass"]) for path in letters)
    masses = rows.filter(corruption=CLEAN)["label_mass"].cast(pl.Float64)
    return None if masses.is_empty() else float(np.mean(masses.to_numpy()))
