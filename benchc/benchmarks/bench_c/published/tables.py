"""The numbers that the Bench-C paper prints in its Tables 1, 2 and 3, with three digits as printed.

Models have the paper's names, which the model catalogue uses as labels; corruptions and regimes have ours.
"""

from collections.abc import Mapping
from importlib import resources

import polars as pl

PUBLISHED_ITEMS = 849  # of the paper's benchmark

TABLE1 = {
    "label": pl.String,
    "year": pl.Int64,
    "params_b": pl.Float64,  # 10^9 parameters
    "acc_clean": pl.Float64,  # unweighted mean; n/849 in every row
    "delta_acc": pl.Float64,
    "ras": pl.Float64,
    "entropy_clean": pl.Float64,  # the paper does not say whether weighted
    "delta_entropy": pl.Float64,
    "calibration_clean": pl.Float64,  # likewise
    "delta_calibration": pl.Float64,
    "rank_delta_acc": pl.Int64,  # 1 is best
    "rank_ras": pl.Int64,
}
TABLE2 = {
    "label": pl.String,
    "mean_abs_z_ras": pl.Float64,
    "mean_abs_z_delta_acc": pl.Float64,
    "t": pl.Float64,  # one-sided, paired, 18 degrees of freedom
    "p": pl.Float64,
}
TABLE3 = {
    "label": pl.String,
    "corruption": pl.String,
    "acc_clean": pl.Float64,
    "delta_acc": pl.Float64,
    "delta_entropy": pl.Float64,
    "delta_calibration": pl.Float64,
    "ras": pl.Float64,
    "wr": pl.Int64,  # items wrong when clean, right at severity 1
    "rw": pl.Int64,  # items right when clean, wrong at severity 1
    "regime": pl.String,
}


def published_table1() -> pl.DataFrame:
    """Return the paper's Table 1: 13 models, columns ``TABLE1``."""
    return _read("table1.csv", TABLE1)


def published_table2() -> pl.DataFrame:
    """Return the paper's Table 2 (section 9.2): 13 models, columns ``TABLE2``."""
    return _read("table2.csv", TABLE2)


def published_table3() -> pl.DataFrame:
    """Return the paper's Table 3 (section 9.3): 28 cases (model, corruption), columns ``TABLE3``."""
    return _read("table3.csv", TABLE3)


def _read(name: str, columns: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    data = resources.files("benchc.benchmarks.bench_c.published").joinpath(name).read_bytes()
    return pl.read_csv(data, schema=columns)
