"""Intervals of VRE and accuracy from resamples of images: tables/vre_intervals.csv.

``kind`` says of what a row is: VRE of a ``model`` or of a ``corruption`` with the run's weights; VRE of a
model with weights of the paper's study, ``weights: equal`` and so on; or its mean ``accuracy``.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from benchc.benchmarks.vqa_robustness.metrics.severity import Floats
from benchc.schemas.printed import read_csv

MODEL, CORRUPTION, ACCURACY = "model", "corruption", "accuracy"
STUDIED = "weights: {}"  # by the name of the weighting

INTERVALS = {
    "kind": pl.String,
    "name": pl.String,  # label of the model, or corruption
    "low": pl.Float64,  # 95 % percentile interval; null where undefined
    "high": pl.Float64,
    # Share of resamples with the same rank; null without VRE or rank, and of accuracy.
    "rank_stability": pl.Float64,
    "images": pl.Int64,  # that are resampled
    "draws": pl.Int64,  # resamples
    "left_out": pl.Int64,  # of these, in which other models have VRE
}


def read_intervals(path: Path) -> pl.DataFrame:
    """Return the columns ``INTERVALS`` of a CSV file."""
    return read_csv(path, schema=INTERVALS)


def ends(intervals: pl.DataFrame, kind: str, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the lower and the upper ends of ``kind``, in the order of ``names``; NaN where there is none."""
    found = {
        name: (low, high)
        for name, low, high in intervals.filter(kind=kind).select("name", "low", "high").rows()
    }
    low, high = np.array([found.get(name, (None, None)) for name in names], dtype=np.float64).reshape(-1, 2).T
    return low, high
