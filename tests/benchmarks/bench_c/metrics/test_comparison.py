import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.aggregate import DELTA_ACCURACY, destructive, overall_means
from benchc.benchmarks.bench_c.metrics.comparison import DIFFERENCES, compare, largest_difference
from benchc.benchmarks.bench_c.metrics.cube import CLEAN_METRICS, SHIFT_METRICS
from benchc.errors import InputError
from tests.benchmarks.bench_c.metrics.score_tables import kappas, scored

A = {"one": scored(9, 0), "two": scored(9, 1), "only a": scored(9, 2)}
B = {"two": scored(9, 11), "one": scored(9, 10).filter(pl.col("id") != "s/3"), "only b": scored(9, 12)}
COMMON = pl.col("id") != "s/3"
KAPPAS = (kappas(9), kappas(9).with_columns(kappa=1 - pl.col("kappa") / 2))


def test_a_run_does_not_differ_from_itself():
    table = compare(A, A, (KAPPAS[0], KAPPAS[0]), draws=50)
    assert dict(table.schema) == DIFFERENCES
    assert table.filter(pl.col("a") != pl.col("b")).is_empty()
    ends = table.filter(pl.col("items") > 1).select("difference", "low", "high").to_numpy()
    assert (ends == 0).all() and len(ends)
    assert largest_difference(A, A) == 0.0
    # 2,000 resamples with the seed 0, unless others are given.
    one = ({"one": A["one"]}, {"one": B["one"]}, KAPPAS)
    assert compare(*one).equals(compare(*one, 2_000, 0))
    first = (pl.col("id") == "s/1") & (pl.col("corruption") == "fog") & (pl.col("severity") == 3)
    moved = A["one"].with_columns(ras=pl.when(first).then(pl.col("ras") - 3e-7).otherwise("ras"))
    assert largest_difference(A, {"one": moved}) == pytest.approx(3e-7, rel=1e-6)
    # Means of opposite shifts are equal, but not the scores.
    sign = pl.when(pl.col("id") == "s/1").then(1.0).when(pl.col("id") == "s/2").then(-1.0).otherwise(0.0)
    balanced = {"one": A["one"].with_columns(ras=pl.col("ras") + sign / 4)}
    assert largest_difference({"one": A["one"]}, balanced) == pytest.approx(0.25)
    others = {"one": moved.filter(pl.col("id") != "s/1"), "only b": A["two"]}
    assert largest_difference(A, others) == 0.0


def test_common_items_and_models_are_compared():
    table = compare(A, B, KAPPAS, draws=50)
    assert table["model"].unique(maintain_order=True).to_list() == ["one", "two"]
    assert table.filter(metric="ras")["items"].unique().to_list() == [8]
    for model in ("one", "two"):
        a, b = A[model].filter(COMMON), B[model].filter(COMMON)
        cells = ((None, "kappa"), *((corruption, "unweighted") for corruption in (None, "blur", "fog")))
        for corruption, weighting in cells:
            part = pl.lit(True) if corruption is None else pl.col("corruption") == corruption
            means = [DELTA_ACCURACY.alias("delta_acc"), pl.col("ras")]
            values = [
                overall_means(run.filter(part), means, weights if weighting == "kappa" else None)
                for run, weights in zip((a, b), KAPPAS, strict=True)
            ]
            for metric in ("delta_acc", "ras"):
                keys = {"model": model, "metric": metric, "weighting": weighting}
                row = table.filter(pl.col("corruption").eq_missing(corruption), **keys)
                expected = [values[0][metric], values[1][metric], values[1][metric] - values[0][metric]]
                assert list(row.select("a", "b", "difference").row(0)) == pytest.approx(expected, abs=2e-9)
                assert row["low"][0] <= row["difference"][0] <= row["high"][0]
        row = table.filter(corruption="fog", model=model, metric="destructive")
        assert row["a"][0] == pytest.approx(destructive(a).filter(corruption="fog")["ras"][0], abs=1e-9)
    table = compare(
        *({"one": run["one"].filter(id="s/1", corruption="fog")} for run in (A, B)), KAPPAS, draws=5
    )
    assert table["low"].null_count() == table["high"].null_count() == table.height
    assert table.filter(metric="ras")["difference"].null_count() == 0
    assert "nan" not in table.write_csv().lower()


def test_a_shift_of_every_prediction_has_no_width():
    """Items are paired across the runs: an equal shift of every item has an interval of width 0."""
    moved = {"one": A["one"].with_columns(ras=pl.col("ras") + 0.125)}
    table = compare({"one": A["one"]}, moved, (KAPPAS[0], KAPPAS[0]), draws=50).filter(metric="ras")
    assert table.height == 4  # all corruptions in both weightings, two corruptions
    for row in table.iter_rows(named=True):
        assert [row[name] for name in ("difference", "low", "high")] == pytest.approx([0.125] * 3, abs=1e-8)


def test_an_item_counts_where_both_runs_give_it_a_weight():
    with pytest.raises(ValueError, match="draws must be at least 1, not 0"):
        compare(A, B, KAPPAS, draws=0)
    assert compare(A, B, KAPPAS, draws=1)["low"].null_count() == 0
    with pytest.raises(ValueError, match="zip"):  # a run has one table of kappas
        compare(A, B, (*KAPPAS, KAPPAS[0]))  # type: ignore[arg-type]
    few = KAPPAS[1].with_columns(kappa=pl.when(pl.col("id").is_in(["s/1", "s/2"])).then(0.5).otherwise(0.0))
    for weights in ((KAPPAS[0], few), (few, KAPPAS[0])):
        table = compare(A, B, weights, draws=5)
        assert set(table.filter(weighting="kappa")["items"]) == {2}
        assert set(table.filter(weighting="unweighted", metric="ras")["items"]) == {8}
    # The rows of all corruptions come first, then the corruptions by name.
    of_regimes = ("destructive", "corrective")
    assert table.filter(model="one").select("corruption", "weighting", "metric").rows() == [
        *(
            (None, name, metric)
            for name in ("unweighted", "kappa")
            for metric in CLEAN_METRICS + SHIFT_METRICS
        ),
        *((None, "unweighted", metric) for metric in of_regimes),
        *((name, "unweighted", metric) for name in ("blur", "fog") for metric in of_regimes + SHIFT_METRICS),
    ]


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ({"one": A["one"]}, {"two": A["two"]}, "no model in common: one, and two"),
        ({"one": A["one"], "three": A["two"]}, {}, "no model in common: one, three, and none; compare"),
        ({}, {"one": A["one"], "two": A["two"]}, "no model in common: none, and one, two; compare"),
        ({"one": A["one"].filter(id="s/1")}, {"one": A["one"].filter(id="s/2")}, "no id in common"),
        (*({"one": A["one"].filter(corruption=name)} for name in ("fog", "blur")), "no corruption in common"),
        ({"one": A["one"].tail(-1)}, {"one": A["one"]}, r"one: 1 missing score: \(s/0, blur, 1\)"),
        # Of what both have, one run lacks a whole item.
        (
            {"one": A["one"].filter((pl.col("id") != "s/2") | (pl.col("corruption") == "fog"))},
            {"one": A["one"].filter(corruption="blur")},
            r"one: 3 missing scores: \(s/2, blur, 1\), ",
        ),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(a, b, message):
    with pytest.raises(InputError, match=message):
        compare(a, b, KAPPAS, draws=5)
