"""Mean shifts, transitions and regimes of one model per corruption and severity."""

import polars as pl

from benchc.benchmarks.bench_c.metrics.aggregate import CELL, DELTA_ACCURACY, cell_means
from benchc.benchmarks.bench_c.metrics.transitions import regime
from benchc.benchmarks.bench_c.schemas.scores import REGIMES, TRANSITIONS

CELLS: dict[str, pl.DataType | type[pl.DataType]] = {
    "corruption": pl.String,
    "severity": pl.Int64,
    "items": pl.Int64,
    "acc_clean": pl.Float64,  # unweighted means over items, from here on
    "delta_acc": pl.Float64,  # = (wr - rw) / items
    "delta_entropy": pl.Float64,
    "delta_calibration": pl.Float64,
    "ras": pl.Float64,
    **{name.lower(): pl.Int64 for name in TRANSITIONS},  # items
    **{f"items_{name}": pl.Int64 for name in REGIMES},  # items in each regime
    "regime": pl.Enum(REGIMES),  # of the means of ΔS and ΔC
}


def cells(scores: pl.DataFrame) -> pl.DataFrame:
    """Return one row per corruption and severity of a SCORES table, columns ``CELLS``, sorted by both.

    Means are unweighted, as in the paper's Table 3: all of its ΔAcc are (WR - RW) / 849. A cell's regime
    follows from the signs of its mean ΔS and ΔC, where a mean of 0 counts as one below 0.
    """
    means = cell_means(
        scores,
        [
            pl.col("correct_clean").cast(pl.Float64).alias("acc_clean"),
            DELTA_ACCURACY.alias("delta_acc"),
            pl.col("delta_entropy"),
            pl.col("delta_calibration"),
            pl.col("ras"),
        ],
    )
    counts = scores.group_by(*CELL).agg(
        *((pl.col("transition") == name).sum().cast(pl.Int64).alias(name.lower()) for name in TRANSITIONS),
        *((pl.col("regime") == name).sum().cast(pl.Int64).alias(f"items_{name}") for name in REGIMES),
    )
    return (
        means.join(counts, on=CELL, how="left", maintain_order="left", validate="1:1")
        .with_columns(regime(pl.col("delta_entropy"), pl.col("delta_calibration")).alias("regime"))
        .select(*CELLS)
    )
