import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.benchmarks.bench_c.metrics.regimes import CELLS, cells
from benchc.benchmarks.bench_c.metrics.table3 import TABLE3, subtle_cells, table3
from benchc.benchmarks.bench_c.schemas.scores import REGIMES
from tests.benchmarks.bench_c.figures.figure_tables import drawn_scores, score, scores


def case(
    corruption: str, severity: int, transitions: list[str], shift: float = 0.25
) -> list[dict[str, object]]:
    return [
        score(f"s/{item}", -shift, shift, -shift, transition, corruption=corruption, severity=severity)
        for item, transition in enumerate(transitions)
    ]


GAINS = cells(
    scores(
        [
            *case("fog", 1, ["WR", "RR", "WW", "RR"]),
            *case("snow", 1, ["WR", "WR", "RW", "WR"]),
            *case("frost", 1, ["WR", "RW", "WW", "RR"]),  # even
            *case("blur", 5, ["WR", "WR", "WR", "WR"]),  # not mild
        ]
    )
)


def test_gains_at_severity_1_by_hand():
    table = table3({"B": GAINS, "A": GAINS})
    assert dict(table.schema) == TABLE3
    # Models in the order given, then the larger gain first.
    assert table.select("label", "corruption", "wr", "rw", "delta_acc", "regime").rows() == [
        (label, *row)
        for label in ("B", "A")
        for row in [("snow", 3, 1, 0.5, "overconfident"), ("fog", 1, 0, 0.25, "overconfident")]
    ]
    assert table["items"].to_list() == [4] * 4 and table["ras"].to_list() == [-0.25] * 4
    # Then the corruption's name.
    again = GAINS.filter(corruption="fog").with_columns(corruption=pl.lit("blur"))
    names = table3({"A": pl.concat([GAINS, again])})["corruption"].to_list()
    assert names == ["snow", "blur", "fog"]
    assert subtle_cells({"A": GAINS}).height == 3
    assert table3({"A": GAINS.filter(corruption="frost")}).is_empty()
    assert dict(table3({"A": GAINS.filter(severity=5)}).schema) == TABLE3
    assert subtle_cells({}).is_empty()


@settings(max_examples=40)
@given(st.integers(0, 2**20))
def test_cells_count_every_item_once_and_agree_with_plain_means(seed):
    frame = drawn_scores(9, ["fog", "snow"], seed)
    table = cells(frame.sample(fraction=1, shuffle=True, seed=seed))
    assert dict(table.schema) == CELLS
    assert table.equals(cells(frame))
    for row in table.iter_rows(named=True):
        part = frame.filter(corruption=row["corruption"], severity=row["severity"])
        assert row["rr"] + row["rw"] + row["wr"] + row["ww"] == row["items"] == 9
        assert sum(row[f"items_{name}"] for name in REGIMES) == 9
        assert abs(row["delta_acc"] - (row["wr"] - row["rw"]) / 9) < 1e-12
        assert abs(row["acc_clean"] - (row["rr"] + row["rw"]) / 9) < 1e-12
        means = part.select(pl.col("ras", "delta_entropy", "delta_calibration").mean()).row(0, named=True)
        assert all(abs(row[name] - value) < 1e-12 for name, value in means.items())
        up = "degraded" if means["delta_entropy"] > 0 else "overconfident"
        down = "hesitant" if means["delta_entropy"] > 0 else "stable"
        assert row["regime"] == (up if means["delta_calibration"] > 0 else down)
