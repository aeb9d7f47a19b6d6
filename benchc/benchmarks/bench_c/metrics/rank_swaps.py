"""Do two models swap ranks when ranked by RAS instead of ΔAcc? A test for every pair.

A pair is ordered oppositely where the paired differences of its ΔAcc and of its RAS (eq. 11, weighted by
kappa) have opposite signs; it counts as a swap where this is significant. Both signs must hold, so the p
value of one direction is the larger of two one-sided bootstrap p values (intersection-union test, Berger
1982), each (1 + draws in which the difference does not have its sign) divided by (1 + draws). The direction
is chosen by the data, so the smaller p of the two directions is doubled. Holm's method adjusts over all pairs
of models. Conditional on the selected set, as all intervals here.
"""

from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.bench_c.metrics.bootstrap import shift_sums
from benchc.benchmarks.bench_c.metrics.cube import SHIFT_METRICS, Cube
from benchc.benchmarks.bench_c.metrics.table1 import RANKED
from benchc.statistics.resampling import drawn_means, item_counts, percentile_interval
from benchc.statistics.rounding import DIGITS, rounded

Floats = npt.NDArray[np.float64]

# The smallest p of B draws is 2 / (B + 1), and Holm multiplies the smallest of the paper's 78 pairs by 78:
# with the 2,000 draws of the intervals no pair could reach 0.05.
DRAWS = 20_000
LEVEL = 0.05

NUMBERS = [f"{metric}_{name}" for metric in RANKED for name in ("a", "b", "difference", "low", "high")]
NOTES = {0: "undefined: no item has a weight", 1: "interval and p undefined: one item"}

RANK_SWAPS = {
    "model_a": pl.String,
    "model_b": pl.String,
    **dict.fromkeys(NUMBERS, pl.Float64),  # a minus b, and its 95 % percentile interval; null where undefined
    "opposite": pl.Boolean,  # the differences have opposite signs; null where one is undefined
    "p": pl.Float64,  # in (0, 1]; null where it is undefined
    "p_holm": pl.Float64,  # over all pairs with a p
    "swap": pl.Boolean,  # p_holm <= 0.05; null where p is
    "note": pl.String,  # why numbers are undefined; null otherwise
}


def rank_swaps(cube: Cube, kappa: Floats, draws: int = DRAWS, seed: int = 0) -> pl.DataFrame:
    """Return one row per pair of models, in the order of ``cube.models``, columns as ``RANK_SWAPS``.

    ``kappa``: float64[items]. No row for one model. Fewer than two items with a weight give no interval and
    no p. Raises ValueError where ``draws`` is not positive.
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1, not {draws}")
    weighted_items = int((kappa > 0).sum())
    counts = item_counts(len(cube.items), draws, seed)
    # float64[1 + draws, RANKED] of each model; row 0 is the sample itself.
    chosen = [SHIFT_METRICS.index(metric) for metric in RANKED]
    drawn = [
        drawn_means(counts, *shift_sums(cube, number, kappa))[:, chosen] for number in range(len(cube.models))
    ]
    rows = []
    for a, b in combinations(range(len(cube.models)), 2):
        differences = drawn[a] - drawn[b]
        compared = np.round(differences, DIGITS)
        # [5, RANKED]: a, b, their difference and the ends of its interval.
        values = np.stack([drawn[a][0], drawn[b][0], differences[0], *percentile_interval(differences[1:])])
        opposite = None if np.isnan(compared[0]).any() else bool(np.prod(np.sign(compared[0])) < 0)
        p = swap_p(compared[1:])
        if weighted_items < 2:
            values[3:], p = np.nan, None
        rows.append(
            {
                "model_a": cube.models[a],
                "model_b": cube.models[b],
                **dict(zip(NUMBERS, rounded(values.T.ravel()), strict=True)),
                "opposite": opposite,
                "p": p,
                "note": NOTES.get(weighted_items),
            }
        )
    table = pl.DataFrame(rows, schema_overrides=RANK_SWAPS) if rows else pl.DataFrame(schema=RANK_SWAPS)
    adjusted = holm(table["p"])
    return table.with_columns(p_holm=adjusted, swap=adjusted <= LEVEL).select(*RANK_SWAPS)


def swap_p(differences: Floats) -> float | None:
    """Return the p value, in (0, 1], of two differences' opposite signs; ``differences``: float64[draws, 2].

    Draws with a NaN are excluded; None where there is no other.
    """
    differences = differences[~np.isnan(differences).any(axis=1)]
    draws = len(differences)
    if not draws:
        return None
    not_above = (1 + (differences <= 0).sum(axis=0)) / (draws + 1)
    not_below = (1 + (differences >= 0).sum(axis=0)) / (draws + 1)
    one_sided = min(max(not_above[0], not_below[1]), max(not_below[0], not_above[1]))
    return min(1.0, 2 * float(one_sided))


def holm(p_values: pl.Series) -> pl.Series:
    """Return Holm's adjusted p values (1979), Float64 in [0, 1]; a null stays and counts as no test."""
    order = p_values.arg_sort(nulls_last=True)
    tests = len(p_values) - p_values.null_count()
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for index, row in enumerate(order.head(tests)):
        largest = max(largest, min(1.0, (tests - index) * p_values[row]))
        adjusted[row] = largest
    return pl.Series(p_values.name, adjusted, dtype=pl.Float64)
