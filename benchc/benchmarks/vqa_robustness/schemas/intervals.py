"""Intervals of VRE from resamples of images: tables/vre_intervals.csv."""

from pathlib import Path

import polars as pl

INTERVALS = {
    "kind": pl.String,  # model or corruption
    "name": pl.String,  # label of the model, or corruption
    "vre_low": pl.Float64,  # 95 % percentile interval; null where undefined
    "vre_high": pl.Float64,
    "rank_stability": pl.Float64,  # share of resamples with the same rank; null without VRE or rank
    "images": pl.Int64,  # that are resampled
    "draws": pl.Int64,  # resamples
    "left_out": pl.Int64,  # of these, in which other models have VRE
}


def read_intervals(path: Path) -> pl.DataFrame:
    """Return the columns ``INTERVALS`` of a CSV file."""
    return pl.read_csv(path, schema=INTERVALS, glob=False)
