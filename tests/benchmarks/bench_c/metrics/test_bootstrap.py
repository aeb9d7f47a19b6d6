import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.bench_c.metrics.aggregate import (
    DELTA_ACCURACY,
    cell_means,
    clean_means,
    corrective,
    destructive,
    overall_means,
)
from benchc.benchmarks.bench_c.metrics.bootstrap import INTERVALS, bootstrap, ranks_of
from benchc.benchmarks.bench_c.metrics.cube import SHIFT_METRICS, cube_of
from benchc.benchmarks.bench_c.metrics.table1 import rank, table1
from benchc.schemas.models import Model
from benchc.statistics.resampling import item_counts
from benchc.statistics.rounding import tied
from tests.benchmarks.bench_c.metrics.score_tables import kappas, scored

ITEMS = 8
TABLES = {name: scored(ITEMS, seed) for seed, name in enumerate(("one", "two", "three"))}
WEIGHTS = kappas(ITEMS)
SHIFTS = [
    DELTA_ACCURACY.alias("delta_acc"),
    *(pl.col(name) for name in ("ras", "delta_entropy", "delta_calibration")),
]


def intervals(tables=TABLES, weights=WEIGHTS, draws=40, seed=5) -> pl.DataFrame:
    cube = cube_of(tables)
    return bootstrap(cube, cube.kappa(weights), draws, seed)


TABLE = intervals()


def row(table=TABLE, corruption=None, severity=None, weighting="unweighted", **keys) -> dict[str, object]:
    matches = table.filter(
        pl.col("corruption").eq_missing(corruption),
        pl.col("severity").eq_missing(severity),
        weighting=weighting,
        **keys,
    )
    return matches.row(0, named=True) if matches.height == 1 else pytest.fail(f"{matches.height} rows")


def resampled(frame: pl.DataFrame, counts: np.ndarray) -> pl.DataFrame:
    """Return the rows of every drawn item as often as it was drawn, each copy an item of its own."""
    copies = [(f"s/{item}", f"{item}-{copy}") for item in range(ITEMS) for copy in range(int(counts[item]))]
    drawn = pl.DataFrame(copies, schema=["id", "copy"], orient="row").join(frame, on="id")
    return drawn.drop("id").rename({"copy": "id"})


def aggregates_of(frame: pl.DataFrame, weights: pl.DataFrame) -> dict[tuple[object, ...], float | None]:
    """Return the library's own aggregates by corruption, severity, metric and weighting."""
    values = {}
    for weighting, chosen in (("unweighted", None), ("kappa", weights)):
        for metric, value in {**clean_means(frame, chosen), **overall_means(frame, SHIFTS, chosen)}.items():
            values[None, None, metric, weighting] = value
    for cell in cell_means(frame, SHIFTS).iter_rows(named=True):
        for metric in SHIFT_METRICS:
            values[cell["corruption"], cell["severity"], metric, "unweighted"] = cell[metric]
    for corruption in ("blur", "fog"):
        part = frame.filter(corruption=corruption)
        for metric, value in overall_means(part, SHIFTS).items():
            values[corruption, None, metric, "unweighted"] = value
    for metric, function in (("destructive", destructive), ("corrective", corrective)):
        for corruption, _, value in function(frame).iter_rows():
            values[corruption, None, metric, "unweighted"] = value
        overall = function(frame.with_columns(corruption=pl.lit("all")))
        values[None, None, metric, "unweighted"] = overall["ras"][0]
    return values


@pytest.mark.parametrize("model", ["one", "three"])
def test_estimates_and_intervals_are_those_of_resampled_tables(model):
    draws = [
        aggregates_of(resampled(TABLES[model], counts), resampled(WEIGHTS, counts))
        for counts in item_counts(ITEMS, 40, seed=5)
    ]
    rows = TABLE.filter(~pl.col("metric").str.starts_with("rank"), model=model)
    assert rows.height == len(draws[0]) == 2 * 7 + 2 * (4 + 2) + 2 * 3 * 4 + 2
    for found in rows.iter_rows(named=True):
        key = tuple(found[name] for name in ("corruption", "severity", "metric", "weighting"))
        assert found["estimate"] == pytest.approx(draws[0][key], abs=1e-9)
        drawn = [draw[key] for draw in draws[1:] if draw[key] is not None]
        if found["items"] == 1:
            assert (found["low"], found["high"]) == (None, None)
            assert found["note"] == "interval undefined: one item"
            continue
        ends = np.quantile(drawn, [0.025, 0.975])
        assert [found["low"], found["high"]] == pytest.approx(ends.tolist(), abs=2e-9)
        missing = 40 - len(drawn)
        assert found["note"] == (f"{missing} of 40 draws undefined and excluded" if missing else None)


def test_estimates_and_ranks_are_table_1s():
    targets = [Model(name, name, None, None) for name in TABLES]
    for expected in table1(targets, list(TABLES.values()), WEIGHTS).iter_rows(named=True):
        model = expected["model"]
        for metric in ("delta_acc", "ras", "rank_delta_acc", "rank_ras"):
            found = row(model=model, metric=metric, weighting="kappa")
            assert found["estimate"] == pytest.approx(expected[metric], abs=1e-9)
            assert found["low"] <= found["high"]
            if metric.startswith("rank"):
                assert {found["low"], found["high"]} <= {1.0, 2.0, 3.0}
        assert row(model=model, metric="acc_clean")["estimate"] == pytest.approx(expected["acc_clean"])


def test_a_rank_that_no_draw_changes_is_certain_and_models_are_paired():
    better = TABLES["one"].with_columns(ras=pl.col("ras") / 4 + 0.1)
    worse = better.with_columns(ras=pl.col("ras") - 1e-6)
    table = intervals({"worse": worse, "better": better})
    for weighting in ("unweighted", "kappa"):
        for expected, model in enumerate(("better", "worse"), start=1):
            found = row(table, model=model, metric="rank_ras", weighting=weighting)
            assert (found["estimate"], found["low"], found["high"]) == (expected, expected, expected)
        tied = row(table, model="worse", metric="rank_delta_acc", weighting=weighting)
        assert (tied["estimate"], tied["low"], tied["high"]) == (1, 1, 1)


def test_neither_the_order_of_rows_nor_of_models_changes_a_bit():
    names = ("three", "one", "two")
    shuffled = {name: TABLES[name].sample(fraction=1, shuffle=True, seed=1) for name in names}
    table = intervals(shuffled, WEIGHTS.reverse())
    assert table["model"].unique(maintain_order=True).to_list() == [*names]
    key = ["model", "corruption", "severity", "metric", "weighting"]
    assert table.sort(key).equals(TABLE.sort(key))


@pytest.mark.parametrize(
    ("items", "corruptions", "severities"),
    [(1, ["fog"], [1]), (1, ["fog", "blur"], [1, 5]), (2, ["fog"], [1])],
)
def test_one_model_one_item_one_severity(items, corruptions, severities):
    table = intervals({"one": scored(items, 0, corruptions, severities)}, kappas(items))
    assert dict(table.schema) == INTERVALS
    numbers = table.select("estimate", "low", "high")
    assert not numbers.select(pl.any_horizontal(pl.all().is_nan().any())).item()
    single = table.filter(pl.col("items") == 1)
    assert single["low"].null_count() == single["high"].null_count() == single.height
    # One model has the rank 1 in every resample.
    alone = single["metric"].str.starts_with("rank_")
    assert set(single.filter(~alone)["note"]) <= {"interval undefined: one item"}
    ranks = table.filter(pl.col("metric").str.starts_with("rank_"))
    assert set(ranks["note"]) == {"interval undefined: one model is ranked"}
    assert ranks["low"].null_count() == ranks.height
    none = table.filter(pl.col("items") == 0)
    assert none["estimate"].null_count() == none.height
    assert set(none["note"]) <= {"undefined: no item has a weight"}
    if items == 1:  # it is either right or wrong when clean
        assert single.height + none.height == table.height
        assert none["metric"].n_unique() == 1
    assert row(table, model="one", metric="rank_ras")["estimate"] == 1


def test_constant_metrics_and_kappas_of_0():
    flat = TABLES["one"].with_columns(pl.lit(0.3).alias(name) for name in ("ras", "delta_entropy"))
    table = intervals({"one": flat}, WEIGHTS.with_columns(kappa=pl.lit(0.0)))
    assert [row(table, model="one", metric="ras")[name] for name in ("estimate", "low", "high")] == [0.3] * 3
    weighted = row(table, model="one", metric="ras", weighting="kappa")
    assert weighted["estimate"] is weighted["low"] is None
    assert weighted["note"] == "undefined: no item has a weight"
    assert row(table, model="one", metric="rank_ras", weighting="kappa")["estimate"] is None
    assert "nan" not in table.write_csv().lower()


def test_only_ranked_models_have_ranks_among_themselves():
    cube = cube_of(TABLES)
    kappa = np.where(np.arange(ITEMS) < 3, 0.5, 0)
    table = bootstrap(cube, kappa, 40, 5, ranked=["three", "one"])
    of_two = bootstrap(cube_of({name: TABLES[name] for name in ("one", "three")}), kappa, 40, 5)
    ranks = pl.col("metric").str.starts_with("rank")
    two = table.filter(ranks, pl.col("model") != "two")
    assert two.equals(of_two.filter(ranks)) and two["estimate"].null_count() == 0
    other = table.filter(ranks, model="two")
    assert set(other["note"]) == {"undefined: the model is not ranked"}
    assert other["estimate"].null_count() == other["low"].null_count() == other.height == 4
    # Those that have a weight are counted.
    for metric in ("rank_ras", "ras", "acc_clean"):
        counts = [
            row(table, model="one", metric=metric, weighting=name)["items"]
            for name in ("unweighted", "kappa")
        ]
        assert counts == [ITEMS, 3]
    # Each model's rows of Table 1 come first, then those of corruptions, then those of severities.
    kinds = table.select("model", pl.col("corruption").is_null(), pl.col("severity").is_null())
    order = [(True, True), (False, True), (False, False)]
    assert kinds.unique(maintain_order=True).rows() == [(name, *kind) for name in TABLES for kind in order]
    alone = bootstrap(cube, kappa, 40, 5, ranked={"two"}).filter(ranks, model="two")
    assert set(alone["note"]) == {"interval undefined: one model is ranked"}
    assert set(alone["estimate"]) == {1} and alone["high"].null_count() == alone.height


def test_draws_must_be_positive():
    with pytest.raises(ValueError, match="draws must be at least 1"):
        intervals(draws=0)
    assert row(intervals(draws=1), model="one", metric="ras")["low"] is not None
    # 2,000 resamples with the seed 0, unless others are given.
    cube = cube_of({"one": TABLES["one"]})
    kappa = cube.kappa(WEIGHTS)
    assert bootstrap(cube, kappa).equals(bootstrap(cube, kappa, 2_000, 0))


# The last two are at the boundary of two roundings to 9 decimals.
VALUES = [-0.5, -0.25, 0.0, 0.5, 0.4916015625, 0.49160156250000003]
DRAW = st.lists(st.sampled_from(VALUES), min_size=4, max_size=4)


@given(st.lists(DRAW, min_size=1, max_size=5))
def test_ranks_of_draws_are_table_1s_ranks(draws):
    expected = [rank(pl.Series(values)).to_list() for values in draws]
    assert ranks_of(tied(np.array(draws))).tolist() == expected
