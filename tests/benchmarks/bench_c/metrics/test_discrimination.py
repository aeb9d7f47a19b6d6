import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from benchc.benchmarks.bench_c.metrics.cube import cube_of
from benchc.benchmarks.bench_c.metrics.discrimination import (
    CRITERIA,
    DISCRIMINATION,
    METRICS,
    aggregates,
    compared_size,
    criteria,
    discrimination,
    item_values,
)
from benchc.benchmarks.bench_c.metrics.subsets import subsets_of_pool, subsets_of_selected
from benchc.statistics.resampling import drawn_means, item_counts
from tests.benchmarks.bench_c.metrics.score_tables import kappas, scored

ITEMS, DRAWS = 14, 60
TABLES = {name: scored(ITEMS, seed) for seed, name in enumerate(("one", "two", "three", "four"))}
SELECTED = {f"s/{item}" for item in range(0, ITEMS, 2)}  # 7; 7 others evaluated


def found(tables=TABLES, weights=None, pool=(7, 20), selected=SELECTED, draws=DRAWS, seed=3) -> pl.DataFrame:
    cube = cube_of(tables)
    weights = kappas(len(cube.items)) if weights is None else weights
    mask = np.array([id_ in selected for id_ in cube.items])
    return discrimination(cube, cube.kappa(weights), mask, pool, draws, seed)


TABLE = found()


def row(table: pl.DataFrame, criterion: str, metric: str, weighting: str = "unweighted") -> dict[str, object]:
    (found,) = table.filter(criterion=criterion, metric=metric, weighting=weighting).rows(named=True)
    return found


def by_hand(values: list[list[float]], weights: list[float], order: list[float]) -> dict[str, float]:
    """The four criteria of one set of items, in plain Python. ``values``: an item's value for each model."""
    total = math.fsum(weights)
    models = range(len(values[0]))
    if not total:
        return dict.fromkeys(CRITERIA, math.nan)
    means = [
        round(math.fsum(w * item[m] for w, item in zip(weights, values, strict=True)) / total, 9)
        for m in models
    ]
    mean = math.fsum(means) / len(means)
    separable = []
    for a, b in combinations(models, 2):
        difference = means[a] - means[b]
        residuals = [w * (item[a] - item[b] - difference) for w, item in zip(weights, values, strict=True)]
        n = len(values)
        error = math.sqrt(n / (n - 1) * math.fsum(e * e for e in residuals)) / total if n > 1 else math.nan
        separable.append(abs(difference) > 1.96 * error)
    return {
        "sd": math.sqrt(math.fsum((m - mean) ** 2 for m in means) / (len(means) - 1)),
        "range": max(means) - min(means),
        "separable": sum(separable) / len(separable) if sum(w > 0 for w in weights) > 1 else math.nan,
        "kendall": float(stats.kendalltau(means, order).statistic),
    }


def test_worked_by_hand():
    # Two items for three models; the first weighs three times the second.
    values = np.array([[1.0, 0.0, 0.5], [0.0, 0.0, 0.5]])
    sets = np.array([[1.0, 1.0], [1.0, 0.0]])
    result = criteria(sets, values, np.array([3.0, 1.0]), np.array([0.9, 0.1, 0.5]))
    # Means 0.75, 0, 0.5, and 1, 0, 0.5 on the first item alone.
    assert result["range"].tolist() == [0.75, 1.0]
    # sqrt(7 / 48), with seven decimals.
    assert result["sd"].tolist() == [0.3818813, 0.5]
    # Differences 0.75, 0.25 and -0.5. Of the first two the residuals are 3 * 0.25 and -0.75, so the standard
    # error is sqrt(2 * 1.125) / 4 = 0.375: 0.75 is above 1.96 of them, 0.25 is not. The third has none.
    assert result["separable"][0] == pytest.approx(2 / 3)
    assert math.isnan(result["separable"][1])
    assert result["kendall"].tolist() == [1.0, 1.0]
    plain = criteria(sets, values, np.ones(2), np.array([0.1, 0.5, 0.5]))
    # Unweighted means 0.5, 0, 0.5: one pair tied here, another there, one agrees in neither.
    assert plain["kendall"][0] == pytest.approx(stats.kendalltau([0.5, 0, 0.5], [0.1, 0.5, 0.5]).statistic)
    assert plain["separable"][0] == pytest.approx(1 / 3)


@pytest.mark.parametrize("weighting", ["unweighted", "kappa"])
def test_the_standard_error_is_the_bootstraps(weighting):
    """A difference is separable where it is above 1.96 bootstrap standard errors: 200 items, 4,000 draws."""
    generator = np.random.default_rng(1)
    weights = np.ones(200) if weighting == "unweighted" else generator.uniform(0, 0.6, 200)
    first = generator.normal(size=200) + weights
    counts = item_counts(200, 4_000, seed=0)
    drawn = drawn_means(counts, (weights * first)[:, None], weights)[:, 0]
    error = drawn[1:].std(ddof=1)
    for factor, expected in ((0.94, 1.0), (1.06, 0.0)):
        # Shifted so that the difference from a model of 0 is `factor` of what the criterion allows.
        shifted = first - drawn[0] + 1.96 * error / factor
        values = np.column_stack([shifted, np.zeros(200)])
        result = criteria(np.ones((1, 200)), values, weights, np.array([1.0, 0.0]))
        assert result["separable"].tolist() == [expected]


values_of_items = arrays(np.float64, (6, 3), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]))
weights_of_items = arrays(np.float64, 6, elements=st.sampled_from([0.0, 0.25, 0.5]))
sets_of_items = arrays(np.float64, (4, 6), elements=st.sampled_from([0.0, 1.0]))


@pytest.mark.filterwarnings("error:invalid value")
@given(values_of_items, weights_of_items, sets_of_items, st.permutations([0.1, 0.5, 0.5]))
def test_every_set_against_plain_python_and_within_bounds(values, weights, sets, order):
    sets = np.vstack([sets, np.ones(6)])
    result = criteria(sets, values, weights, np.array(order))
    for number, chosen in enumerate(sets == 1):
        if not chosen.any():
            assert all(math.isnan(result[name][number]) for name in CRITERIA)
            continue
        expected = by_hand(values[chosen].tolist(), weights[chosen].tolist(), order)
        for name in CRITERIA:
            assert result[name][number] == pytest.approx(expected[name], abs=1e-7, nan_ok=True), name
    known = {name: column[~np.isnan(column)] for name, column in result.items()}
    assert all(((known[name] >= 0) & (known[name] <= 1)).all() for name in ("sd", "range", "separable"))
    assert (np.abs(known["kendall"]) <= 1).all()


@settings(max_examples=30)
@given(values_of_items, weights_of_items, sets_of_items, st.permutations(range(6)), st.permutations(range(3)))
def test_neither_the_order_of_items_nor_of_models_changes_a_bit(values, weights, sets, items, models):
    order = np.array([0.1, 0.5, 0.3])
    expected = criteria(sets, values, weights, order)
    permuted = criteria(sets[:, items], values[items], weights[items], order)
    for name in CRITERIA:
        assert np.array_equal(permuted[name], expected[name], equal_nan=True)
    permuted = criteria(sets, values[:, models], weights, order[models])
    for name in CRITERIA:
        assert permuted[name] == pytest.approx(expected[name], abs=1e-12, nan_ok=True)


def test_item_values_are_means_of_the_scores_rows_and_aggregates_have_ties_where_values_do():
    cube = cube_of(TABLES)
    values = item_values(cube)
    assert tuple(values) == METRICS
    for number, frame in enumerate(TABLES.values()):
        rows = frame.group_by("id").agg(
            pl.col("correct_clean").cast(pl.Float64).mean().alias("acc_clean"),
            pl.col("correct").cast(pl.Float64).mean().alias("acc_corrupted"),
            pl.col("ras").mean(),
        ).with_columns(delta_acc=pl.col("acc_corrupted") - pl.col("acc_clean")).sort("id")  # fmt: skip
        assert tuple(rows["id"]) == cube.items
        for metric in METRICS:
            assert values[metric][:, number] == pytest.approx(rows[metric].to_numpy(), abs=1e-9)
    values = np.array([[0.1, 0.3], [0.2, 0.0]])
    # The means are equal as numbers, not as sums of binary fractions.
    assert len(set(aggregates(np.ones((1, 2)), values, np.ones(2))[0])) == 1


@pytest.mark.parametrize("pool", [(8, 20), (8, 6), (9, 20)])
def test_the_table_is_made_of_each_sets_criteria(pool):
    table = found(pool=pool, selected=SELECTED | {"s/1"})
    cube = cube_of(TABLES)
    kappa = cube.kappa(kappas(ITEMS))
    selected = np.array([id_ in SELECTED | {"s/1"} for id_ in cube.items])
    represented = np.where(selected, pool[0] / 8, pool[1] / 6)
    # Half the harmonic mean of 8 and 6 where not all others were evaluated, rounded down.
    size = 8 if pool[1] == 6 else 3
    ours = subsets_of_selected(selected, size, DRAWS, 3)
    chance = subsets_of_pool(selected, pool, size, DRAWS, 3)
    for metric, values in item_values(cube).items():
        for weighting, weights in (("unweighted", np.ones(ITEMS)), ("kappa", kappa)):
            order = np.average(values, axis=0, weights=weights * represented).round(9)
            drawn, own = (
                [
                    by_hand(*(part[chosen].tolist() for part in (values, weights)), order)
                    for chosen in sets == 1
                ]
                for sets in (chance, ours)
            )
            for criterion in CRITERIA:
                result = row(table, criterion, metric, weighting)
                numbers, mine = (np.array([draw[criterion] for draw in sets]) for sets in (drawn, own))
                numbers, mine = (values[~np.isnan(values)] for values in (numbers, mine))
                assert result["selected"] == pytest.approx(np.median(mine), abs=1e-7)
                if size == 8:
                    assert (result["selected_low"], result["selected_high"]) == (None, None)
                else:
                    ends = [result["selected_low"], result["selected_high"]]
                    assert ends == pytest.approx(np.quantile(mine, (0.025, 0.975)).tolist(), abs=1e-7)
                random = [result[f"random_{name}"] for name in ("mean", "q025", "q25", "q50", "q75", "q975")]
                expected = [np.mean(numbers), *np.quantile(numbers, (0.025, 0.25, 0.5, 0.75, 0.975))]
                assert random == pytest.approx(expected, abs=1e-7)
                ties = np.isclose(numbers, mine[:, None], atol=3e-8, rtol=0)
                below = np.mean((numbers < mine[:, None]) & ~ties) + np.mean(ties) / 2
                assert result["share_below"] == pytest.approx(below, abs=1e-9)
    assert dict(table.schema) == DISCRIMINATION
    assert table.height == len(CRITERIA) * len(METRICS) * 2
    columns = ["models", "size", "pool_items", "selected_items"]
    columns += ["selected_evaluated", "unselected_evaluated", "draws"]
    assert table.select(columns).unique().rows() == [(4, size, sum(pool), pool[0], 8, 6, DRAWS)]


@given(st.integers(1, 5_000), st.integers(1, 5_000), st.integers(1, 5_000))
def test_sets_are_small_enough_to_scatter_as_chance_does(selected, others, more):
    assert compared_size(selected, others, others) == selected
    size = compared_size(selected, others, others + more)
    assert size >= 1
    if size > 1:
        assert Fraction(1, size) >= Fraction(1, selected) + Fraction(1, others)
    assert Fraction(1, size + 1) < Fraction(1, selected) + Fraction(1, others)


def test_a_sample_of_the_others_compares_subsets_of_both():
    some = {name: frame.filter(~pl.col("id").is_in(["s/1", "s/3", "s/5"])) for name, frame in TABLES.items()}
    table = found(some, kappas(ITEMS))
    # 7 selected and 4 others: 28 / 11.
    assert table["size"].unique().to_list() == [2]
    assert compared_size(10, 20, 15) == 6
    spread = row(table, "sd", "ras")
    assert spread["selected_low"] < spread["selected"] < spread["selected_high"]
    assert 0 < spread["share_below"] < 1
    # Where these others are all that there are, the whole selected set is compared.
    table = found(some, kappas(ITEMS), pool=(7, 4))
    assert table["size"].unique().to_list() == [7] and table["selected_low"].null_count() == table.height


def test_a_set_is_above_chance_if_all_items_separate_models_and_below_if_none_does():
    # On selected items the second model is wrong wherever the first is right; on others both are right.
    base = TABLES["one"].with_columns(correct=pl.lit(True), correct_clean=pl.lit(True))
    is_selected = pl.col("id").is_in(list(SELECTED))
    other = base.with_columns(correct=~is_selected, correct_clean=~is_selected)
    table = found({"one": base, "two": other})
    for metric in ("acc_clean", "acc_corrupted"):
        assert row(table, "range", metric)["selected"] == 1.0
        assert row(table, "sd", metric)["share_below"] > 0.9
        # Of m items of the pool, 7 of 27 are selected on average: the expected difference.
        assert row(table, "range", metric)["random_mean"] == pytest.approx(7 / 27, abs=0.05)
    swapped = found({"one": base, "two": other}, pool=(7, 20), selected={f"s/{n}" for n in range(1, 14, 2)})
    assert row(swapped, "sd", "acc_clean")["share_below"] < 0.1
    # No ΔAcc: all constant.
    flat = row(table, "sd", "delta_acc")
    assert (flat["selected"], flat["random_mean"], flat["share_below"]) == (0, 0, 0.5)
    tau = row(table, "kendall", "delta_acc")
    assert tau["selected"] is None and tau["share_below"] is None
    assert tau["undefined_random"] == tau["undefined_selected"] == DRAWS
    both = "random subsets and selected set: "
    assert tau["note"] == f"{both}the models cannot be ordered, there or on the pool"


def test_an_evaluated_item_stands_for_the_others_of_its_kind():
    # On the selected item the first model is right; on the other, for three of the pool, the second, half.
    rows = TABLES["one"].filter(pl.col("id").is_in(["s/0", "s/1"])).with_columns(correct_clean=pl.lit(True))
    is_selected, is_fog = pl.col("id") == "s/0", pl.col("corruption") == "fog"
    pair = {
        "one": rows.with_columns(correct=is_selected),
        "two": rows.with_columns(correct=~is_selected & is_fog),
    }
    table = found(pair, kappas(2), pool=(1, 3), selected={"s/0"})
    assert row(table, "kendall", "acc_corrupted")["selected"] == -1


def test_one_model_one_item_of_each_kind_and_no_weight():
    single = found({"one": TABLES["one"]})
    assert single.select("selected", "random_mean", "share_below").null_count().row(0) == (32, 32, 32)
    assert set(single["note"]) == {"there is one model"}
    pair = {name: frame.filter(pl.col("id").is_in(["s/0", "s/1"])) for name, frame in TABLES.items()}
    two_items = found(pair, kappas(2), pool=(1, 5))
    assert set(two_items.filter(criterion="separable")["note"]) == {
        "random subsets and selected set: fewer than two items have a weight"
    }
    assert two_items.filter(criterion="sd")["selected"].null_count() == 0
    nothing = found(weights=kappas(ITEMS).with_columns(kappa=pl.lit(0.0))).filter(weighting="kappa")
    assert nothing["note"].null_count() == 0 and nothing["selected"].null_count() == nothing.height
    for table in (single, two_items, nothing):
        assert "nan" not in table.write_csv().lower()


def test_draws_without_a_weight_are_left_out_and_counted():
    only = kappas(ITEMS).with_columns(kappa=pl.when(pl.col("id") == "s/0").then(0.5).otherwise(0.0))
    table = found(weights=only, pool=(7, 7))
    spread = row(table, "sd", "ras", "kappa")
    assert 0 < spread["undefined_random"] < DRAWS and spread["undefined_selected"] == 0
    # One item has all the weight, so that every set with it has the same value.
    assert spread["random_q025"] == spread["random_q975"] == spread["selected"]
    assert row(table, "separable", "ras", "kappa")["note"] is not None
    # Where that item is not selected, there is nothing to compare with random subsets.
    table = found(weights=only, pool=(7, 7), selected={f"s/{item}" for item in range(1, ITEMS, 2)})
    spread = row(table, "sd", "ras", "kappa")
    assert (spread["selected"], spread["share_below"]) == (None, None) and spread["random_mean"] > 0
    assert spread["note"] == "selected set: no item has a weight"


def test_the_order_of_rows_and_models_changes_nothing():
    names = ("three", "one", "four", "two")
    shuffled = {name: TABLES[name].sample(fraction=1, shuffle=True, seed=2) for name in names}
    numbers = [name for name, dtype in DISCRIMINATION.items() if dtype == pl.Float64]
    again = found(shuffled, kappas(ITEMS).reverse())
    for name in numbers:
        ours, theirs = (table[name].fill_null(-9.0).to_numpy() for table in (TABLE, again))
        assert theirs == pytest.approx(ours, abs=1e-9)


def test_there_are_1000_draws_with_the_seed_0_unless_others_are_given():
    cube = cube_of({name: TABLES[name] for name in ("one", "two")})
    given = cube, cube.kappa(kappas(ITEMS)), np.array([id_ in SELECTED for id_ in cube.items]), (7, 20)
    assert discrimination(*given).equals(discrimination(*given, 1_000, 0))


def test_invalid_arguments_are_refused():
    with pytest.raises(ValueError, match="draws must be at least 1"):
        found(draws=0)
    assert found(draws=1)["draws"].unique().to_list() == [1]
    for selected in (set(), {f"s/{item}" for item in range(ITEMS)}):
        with pytest.raises(ValueError, match=r"cannot sample \d+ items"):
            found(selected=selected, pool=(14, 20))
