"""Do two models swap ranks when ranked by RAS instead of ΔAcc (eq. 11, weighted by kappa)?

The test is that of :mod:`benchc.statistics.rank_swaps`, conditional on the selected set, as all intervals
here.
"""

from collections.abc import Container

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.bench_c.metrics.bootstrap import shift_sums
from benchc.benchmarks.bench_c.metrics.cube import SHIFT_METRICS, Cube
from benchc.benchmarks.bench_c.metrics.table1 import RANKED
from benchc.statistics.rank_swaps import columns_of, swap_table
from benchc.statistics.resampling import drawn_means, item_counts

Floats = npt.NDArray[np.float64]

NOTES = {0: "undefined: no item has a weight", 1: "interval and p undefined: one item"}
RANK_SWAPS = columns_of(RANKED)


def rank_swaps(
    cube: Cube, kappa: Floats, draws: int, seed: int, ranked: Container[str] | None = None
) -> pl.DataFrame:
    """Return one row per pair of models, in the order of ``cube.models``, columns as ``RANK_SWAPS``.

    ``kappa``: float64[items]; ``ranked``: the models to compare, None for all. No row for one model. Fewer
    than two items with a weight give no interval and no p. Raises ValueError where ``draws`` is not positive.
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1, not {draws}")
    weighted_items = int((kappa > 0).sum())
    counts = item_counts(len(cube.items), draws, seed)
    # float64[1 + draws, RANKED] of each model; row 0 is the sample itself.
    chosen = [SHIFT_METRICS.index(metric) for metric in RANKED]
    compared = {
        model: number for number, model in enumerate(cube.models) if ranked is None or model in ranked
    }
    drawn = [drawn_means(counts, *shift_sums(cube, number, kappa))[:, chosen] for number in compared.values()]
    return swap_table([*compared], drawn, RANKED, NOTES.get(weighted_items))
