import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.transitions import regime, transition
from benchc.benchmarks.bench_c.schemas.scores import SCORES


@pytest.mark.parametrize(
    ("clean", "corrupted", "expected"),
    [(True, True, "RR"), (True, False, "RW"), (False, True, "WR"), (False, False, "WW")],
)
def test_transition(clean, corrupted, expected):
    found = pl.select(transition(pl.lit(clean), pl.lit(corrupted)).alias("t"))["t"]
    assert found.to_list() == [expected]
    assert found.dtype == SCORES.columns["transition"]


@pytest.mark.parametrize(
    ("shifts", "expected"),
    [
        ([(0.1, 0.1)], "degraded"),
        ([(-0.1, 0.1), (0.0, 0.1)], "overconfident"),
        ([(0.1, -0.1), (0.1, 0.0)], "hesitant"),
        ([(-0.1, -0.1), (0.0, 0.0), (-0.0, -0.0)], "stable"),
    ],
)
def test_regime(shifts, expected):
    found = pl.DataFrame(shifts, schema=["s", "c"], orient="row").select(r=regime(pl.col("s"), pl.col("c")))[
        "r"
    ]
    assert found.to_list() == [expected] * len(shifts)
    assert found.dtype == SCORES.columns["regime"]
