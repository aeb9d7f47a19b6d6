import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.benchmarks.bench_c.metrics.option_order import (
    INTERVALS,
    KEY,
    MEASURES,
    OPTION_ORDER,
    all_orders,
    complete_items,
    measure_predictions,
    missing_predictions,
    option_order,
)
from benchc.errors import InputError
from benchc.statistics.resampling import item_counts
from tests.benchmarks.bench_c.metrics.order_tables import drawn_predictions, items_of, predictions_of

ONE = pl.DataFrame({"id": ["s/0"], "answer": [0], "options": [2]})
COUNTS = st.lists(st.integers(2, 5), min_size=1, max_size=5)


def one_prediction(*orders: list[float], items: pl.DataFrame = ONE) -> dict[str, float]:
    """The measures of a single clean prediction."""
    predictions = predictions_of({("s/0", "clean", 0, order): logits for order, logits in enumerate(orders)})
    return measure_predictions(predictions, items).select(MEASURES).row(0, named=True)


def test_two_orders_by_hand():
    values = one_prediction(np.log([0.9, 0.1]), np.log([0.2, 0.8]))
    bits = {"entropy": 0.4689955936, "entropy_orders": (0.4689955936 + 0.7219280949) / 2}
    bits |= {"entropy_total": 0.9927744540, "order_part": 0.9927744540 - (0.4689955936 + 0.7219280949) / 2}
    # Option 1 has place 0 in order 1, so the prediction has the letter A in both orders.
    bits |= {"changed": 1, "same_place": 1, "any_changed": 1}
    bits |= {"accuracy": 1, "accuracy_orders": 0.5, "accuracy_circular": 0}
    assert values == pytest.approx(bits, abs=1e-9)
    # Certain answers have only an order part.
    values = one_prediction([0.0, -math.inf], [-math.inf, 0.0])
    assert (values["entropy_orders"], values["order_part"], values["entropy_total"]) == (0, 1, 1)
    # Equal answers have none, and rounding makes no part negative.
    items, noise = items_of([5] * 50), np.random.default_rng(0)
    equal = {id_: noise.normal(size=5) for id_ in items["id"]}
    rows = {(id_, "clean", 0, order): logits for id_, logits in equal.items() for order in range(5)}
    parts = measure_predictions(predictions_of(rows), items)["order_part"]
    assert parts.min() == 0 and parts.max() == pytest.approx(0, abs=1e-12)


def test_ties_go_to_the_first_place_in_the_prompt():
    # The same letter, A, in every order: never the same option.
    values = one_prediction(*[[0.0, 0.0, 0.0]] * 3, items=ONE.with_columns(options=3))
    assert (values["changed"], values["same_place"]) == (1, 1)
    assert (values["accuracy"], values["accuracy_circular"]) == (1, 0)
    assert values["accuracy_orders"] == pytest.approx(1 / 3)


def plain(predictions: pl.DataFrame, items: pl.DataFrame, id_: str, corruption: str) -> dict[str, float]:
    """The measures of one prediction in plain Python."""
    answer, options = items.filter(id=id_).select("answer", "options").row(0)
    rows = predictions.filter(id=id_, corruption=corruption).sort("order")["logits"].to_list()

    def softmax(logits):
        weights = [math.exp(value) for value in logits]
        return [weight / math.fsum(weights) for weight in weights]

    def uncertainty(values):
        return -math.fsum(p * math.log(p) for p in values) / math.log(options)

    distributions = [softmax(row) for row in rows]
    mean = [math.fsum(column) / options for column in zip(*distributions, strict=True)]
    chosen = [row.index(max(row)) for row in rows]
    letters = [(option - order) % options for order, option in enumerate(chosen)]
    others = [option for option in chosen[1:] if option != chosen[0]]
    kept = [letter for letter in letters[1:] if letter == letters[0]]
    divergence = math.fsum(
        math.fsum(p * math.log(p / q) for p, q in zip(one, mean, strict=True)) for one in distributions
    )
    return {
        "entropy": uncertainty(distributions[0]),
        "entropy_orders": math.fsum(map(uncertainty, distributions)) / options,
        # The same by its other name: the mean Kullback-Leibler divergence from the mean distribution.
        "order_part": divergence / options / math.log(options),
        "entropy_total": uncertainty(mean),
        "changed": float(Fraction(len(others), options - 1)),
        "same_place": float(Fraction(len(kept), options - 1)),
        "any_changed": float(len(set(chosen)) > 1),
        "accuracy": float(chosen[0] == answer),
        "accuracy_orders": chosen.count(answer) / options,
        "accuracy_circular": float(set(chosen) == {answer}),
    }


@settings(max_examples=40)
@given(COUNTS, st.integers(0, 999))
def test_against_plain_python_in_any_order_of_rows(options, seed):
    items = items_of(options, seed)
    predictions = drawn_predictions(items, seed)
    measures = measure_predictions(predictions.sample(fraction=1, shuffle=True, seed=seed), items)
    assert measures.select(KEY).rows() == sorted(measures.select(KEY).rows())
    assert measures.height == 3 * len(options)
    assert measures.equals(measure_predictions(predictions, items))
    for row in measures.iter_rows(named=True):
        expected = plain(predictions, items, row["id"], row["corruption"])
        assert {name: row[name] for name in MEASURES} == pytest.approx(expected, abs=1e-9)
        assert all(0 <= row[name] <= 1 for name in MEASURES)
        assert row["entropy_orders"] + row["order_part"] == pytest.approx(row["entropy_total"], abs=1e-12)


def test_means_intervals_and_correlation_against_numpy():
    items = items_of([2, 3, 4, 3, 5, 2], 1)
    names = ("snow", "blur")
    models = {
        f"m{seed}": measure_predictions(drawn_predictions(items, seed, names), items) for seed in range(3)
    }
    scorings = dict.fromkeys(models, "letter")
    table = option_order(models, scorings, draws=200, seed=4)
    assert dict(table.schema) == OPTION_ORDER
    assert table["label"].to_list() == [name for name in models for _ in range(4)]
    assert table["corruption"].to_list() == ["clean", None, "blur", "snow"] * 3
    assert table["severity"].to_list() == [0, 5, 5, 5] * 3
    assert table["predictions"].to_list() == [6, 12, 6, 6] * 3
    counts = item_counts(6, 200, 4)[1:]
    for row in table.iter_rows(named=True):
        corruption, corrupted = pl.col("corruption"), row["corruption"] is None
        part = models[row["label"]]
        part = part.filter(corruption != "clean" if corrupted else corruption == row["corruption"])
        for name in MEASURES:
            assert row[name] == pytest.approx(part[name].mean(), abs=1e-9)
        of_item = part.group_by("id").agg(pl.col(MEASURES).mean()).sort("id")
        for name in INTERVALS:
            drawn = counts @ of_item[name].to_numpy() / 6
            ends = np.quantile(drawn, [0.025, 0.975])
            assert [row[f"{name}_low"], row[f"{name}_high"]] == pytest.approx(ends, abs=1e-9)
        if row["spearman"] is None:
            assert "spearman undefined" in row["note"]
        else:
            ranks = part.select(pl.col("entropy", "changed").rank()).to_numpy()
            assert row["spearman"] == pytest.approx(np.corrcoef(ranks.T)[0, 1], abs=1e-9)
            assert row["note"] is None
    shuffled = {name: part.sample(fraction=1, shuffle=True, seed=0) for name, part in models.items()}
    assert option_order(shuffled, scorings, draws=200, seed=4).equals(table)
    one = {"m1": models["m1"]}
    assert option_order(one, scorings, draws=200, seed=4).equals(table.filter(label="m1"))
    # 2,000 resamples with the seed 0, unless others are given.
    assert option_order(one, scorings).equals(option_order(one, scorings, 2_000, 0))


@pytest.mark.filterwarnings("error")
def test_undefined_values_are_null_with_a_reason():
    items = items_of([3])
    cells = [("s/0", *cell, order) for cell in (("clean", 0), ("fog", 3)) for order in range(3)]
    same = predictions_of({key: [0.0, 1, 2] for key in cells})
    table = option_order({"m": measure_predictions(same, items)}, {"m": "text"}, draws=20)
    for row in table.iter_rows(named=True):
        assert row["spearman"] is None and row["changed_low"] is None and row["entropy_high"] is None
        assert row["note"] == (
            "intervals undefined: one item; spearman undefined: entropy is the same in all predictions and "
            "changed is the same in all predictions"
        )
    assert "NaN" not in table.write_csv() and table["severity"].to_list() == [0, 3, 3]
    # One of the two is the same: the prediction, or, but for the rounding of float32, the entropy.
    items = items_of([2, 2])
    for second, reason in (([0.0, 2], "changed"), ([1.000001, 0.0], "entropy"), ([1.0001, 0.0], None)):
        first = {("s/0", *cell, order): [0.0, 1] for cell in (("clean", 0), ("fog", 3)) for order in (0, 1)}
        others = {("s/1", *key[1:]): second if key[3] == 0 else [0.0, 1] for key in first}
        measures = measure_predictions(predictions_of(first | others), items)
        for row in option_order({"m": measures}, {"m": "text"}, draws=20).iter_rows(named=True):
            note = f"spearman undefined: {reason} is the same in all predictions" if reason else None
            assert row["note"] == note and (row["spearman"] is None) == (note is not None)
            assert None not in (row["changed_low"], row["changed_high"])


def test_the_given_order_is_taken_from_all_predictions():
    items = items_of([2, 3])
    predictions = drawn_predictions(items, 0)
    orders = predictions.filter(pl.col("order") > 0)
    given_order = drawn_predictions(items_of([2, 3, 4]), 0, corruptions=("fog", "snow", "frost"), severity=5)
    own = predictions.filter(order=0).drop("order")
    more = given_order.filter(order=0).drop("order").join(own, on=KEY, how="anti")
    joined = all_orders(pl.concat([more, own]), orders)
    assert joined.sort(*KEY, "order").equals(predictions.select(joined.columns).sort(*KEY, "order"))


def invalid():
    predictions = drawn_predictions(items_of([2, 3]), 0)
    first = (pl.col("id") == "s/1") & (pl.col("corruption") == "fog") & (pl.col("order") == 2)

    def changed(column, value):
        dtype = predictions.schema[column]
        return predictions.with_columns(
            pl.when(first).then(pl.lit(value, dtype)).otherwise(column).alias(column)
        )

    return [
        (
            predictions.filter(~first),
            r"\(s/1, fog, 5\) in order 2 is missing \(1 prediction .* to exclude the items",
        ),
        (
            predictions.filter((pl.col("id") != "s/1") | (pl.col("order") == 0)),
            r"\(s/1, clean, 0\) in order 1 is missing \(6 predictions like",
        ),
        (pl.concat([predictions, predictions.filter(first)]), r"\(s/1, fog, 5\) in order 2 occurs twice"),
        (changed("logits", [1.0, 2.0]), r"\(s/1, fog, 5\) in order 2 does not have one logit per option"),
        (changed("logits", [1.0] * 4), r"\(s/1, fog, 5\) in order 2 does not have one logit per option"),
        (changed("id", "x/9"), r"\(x/9, fog, 5\) in order 2 is of an item that the pool lacks"),
        (changed("order", 3), r"\(s/1, fog, 5\) in order 3 is in an order that its item does not have"),
        (changed("order", 7), r"\(s/1, fog, 5\) in order 7 is in an order that its item does not have"),
        (predictions.clear(), "there are no predictions in other orders"),
    ]


@pytest.mark.parametrize(
    ("predictions", "message"), invalid(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_predictions_that_are_not_every_order_once_are_refused(predictions, message):
    with pytest.raises(InputError, match=message):
        measure_predictions(predictions, items_of([2, 3]))


def test_missing_predictions_are_named():
    items = items_of([2, 3])
    predictions = drawn_predictions(items, 0)
    assert missing_predictions(predictions, items).is_empty()
    gaps = (pl.col("id") == "s/0") & (pl.col("corruption") == "snow")
    missing = missing_predictions(predictions.filter(~gaps), items).rows()
    assert missing == [("s/0", "snow", 5, order) for order in (0, 1)]


def test_items_that_lack_a_prediction_of_any_target_are_excluded(capsys):
    items = items_of([2, 3, 2, 3])
    whole = drawn_predictions(items, 0)
    gaps = {
        "one": whole.filter(
            ~((pl.col("id") == "s/1") & (pl.col("order") == 2) & (pl.col("corruption") == "fog"))
        ),
        "two": whole.filter(pl.col("id") != "s/3"),
        "three": whole,
    }
    kept, excluded = complete_items(gaps, items, 4)
    assert excluded == 2
    for part in kept.values():
        assert part.sort(pl.all()).equals(whole.filter(pl.col("id").is_in(["s/0", "s/2"])).sort(pl.all()))
    assert capsys.readouterr().err.splitlines() == [
        "one: 1 of 4 items lack a prediction, excluded",
        "two: 1 of 4 items lack a prediction, excluded",
    ]
    # Items of which no target has any prediction are lacking, too.
    assert complete_items({"three": whole}, items, 6)[1] == 2
    assert "three: 2 of 6 items lack a prediction, excluded" in capsys.readouterr().err
    assert complete_items({"three": whole}, items, 3)[1] == 0 and not capsys.readouterr().err
    with pytest.raises(
        InputError, match=r"none of the 4 items evaluated in .* all predictions of one, none;"
    ):
        complete_items({"one": whole, "none": whole.filter(order=0)}, items, 4)


def test_models_on_different_predictions_and_odd_severities_are_refused():
    items = items_of([2, 3])
    one = measure_predictions(drawn_predictions(items, 0), items)
    scorings = {"one": "letter", "two": "letter"}
    with pytest.raises(InputError, match="two and one were evaluated on different items"):
        option_order({"one": one, "two": one.filter(id="s/0")}, scorings)
    with pytest.raises(InputError, match="not fog 5, snow 5"):
        option_order({"one": one.filter(pl.col("corruption") != "clean")}, scorings)
    with pytest.raises(InputError, match="not clean 0; delete orders"):
        option_order({"one": one.filter(corruption="clean")}, scorings)
    with pytest.raises(InputError, match="not clean 0, fog 5, snow 4"):
        mixed = pl.when(corruption="snow").then(4).otherwise("severity").cast(pl.Int64).alias("severity")
        option_order({"one": one.with_columns(mixed)}, scorings)
    with pytest.raises(InputError, match="give one table per model"):
        option_order({}, {})
    with pytest.raises(ValueError, match="draws must be at least 1"):
        option_order({"one": one}, scorings, draws=0)
    assert option_order({"one": one}, scorings, draws=1)["entropy_low"].null_count() == 0
