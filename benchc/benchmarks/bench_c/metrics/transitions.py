"""The transition and the regime of a corrupted prediction."""

import polars as pl

from benchc.benchmarks.bench_c.schemas.scores import REGIMES, TRANSITIONS


def transition(correct_clean: pl.Expr, correct: pl.Expr) -> pl.Expr:
    """Return RR, RW, WR or WW: the clean prediction's correctness, then the corrupted one's (section 6.2)."""
    return (
        pl.when(correct_clean & correct)
        .then(pl.lit("RR"))
        .when(correct_clean)
        .then(pl.lit("RW"))
        .when(correct)
        .then(pl.lit("WR"))
        .otherwise(pl.lit("WW"))
        .cast(pl.Enum(TRANSITIONS))
    )


def regime(delta_entropy: pl.Expr, delta_calibration: pl.Expr) -> pl.Expr:
    """Return the quadrant of the (ΔS, ΔC) plane (figures 3 and 4); an axis belongs to its lower side.

    degraded: ΔS > 0, ΔC > 0; overconfident: ΔS <= 0, ΔC > 0; hesitant: ΔS > 0, ΔC <= 0; stable: both <= 0.
    """
    return (
        pl.when((delta_entropy > 0) & (delta_calibration > 0))
        .then(pl.lit("degraded"))
        .when(delta_calibration > 0)
        .then(pl.lit("overconfident"))
        .when(delta_entropy > 0)
        .then(pl.lit("hesitant"))
        .otherwise(pl.lit("stable"))
        .cast(pl.Enum(REGIMES))
    )
