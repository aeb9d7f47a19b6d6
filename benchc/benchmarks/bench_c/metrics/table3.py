"""The numbers of Table 3: where the mildest severity raises accuracy, with the other mean shifts."""

from collections.abc import Mapping

import polars as pl

from benchc.benchmarks.bench_c.metrics.regimes import CELLS

SUBTLE = 1  # the severity of Table 3

TABLE3: dict[str, pl.DataType | type[pl.DataType]] = {
    "label": pl.String,
    "corruption": pl.String,
    "items": pl.Int64,
    "acc_clean": pl.Float64,  # unweighted means over items, from here on
    "delta_acc": pl.Float64,  # > 0
    "delta_entropy": pl.Float64,
    "delta_calibration": pl.Float64,
    "ras": pl.Float64,
    "wr": pl.Int64,
    "rw": pl.Int64,
    "regime": CELLS["regime"],
}


def subtle_cells(cells: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return every (model, corruption) at severity 1, gain or not, with the columns of ``TABLE3``.

    ``cells`` gives each model's table of ``metrics.regimes`` by its label, in the order of the rows.
    No rows where there are no predictions at severity 1.
    """
    parts = [
        table.filter(pl.col("severity") == SUBTLE).with_columns(label=pl.lit(label)).select(*TABLE3)
        for label, table in cells.items()
    ]
    return pl.concat(parts) if parts else pl.DataFrame(schema=TABLE3)


def table3(cells: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return Table 3 (section 9.3), columns ``TABLE3``: cases at severity 1 with more WR than RW items.

    ``cells`` as in :func:`subtle_cells`. Models keep their order; those of one model are sorted by falling
    gain, then by the corruption's name.
    """
    order = {label: number for number, label in enumerate(cells)}
    # By counts: a mean of +1 and -1 could round to other than 0.
    gains = subtle_cells(cells).filter(pl.col("wr") > pl.col("rw"))
    return (
        gains.with_columns(
            model=pl.col("label").replace_strict(order, default=None, return_dtype=pl.Int64),
            gain=pl.col("wr") - pl.col("rw"),
        )
        .sort("model", "gain", "corruption", descending=[False, True, False])
        .select(*TABLE3)
    )
