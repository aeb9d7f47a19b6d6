from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from benchc.benchmarks.bench_c.schemas.kappa import KAPPA
from benchc.benchmarks.bench_c.selection.kappa import gini, kappa
from benchc.errors import InputError

CORRUPTIONS = ("fog", "blur")
SEVERITIES = (1, 2, 3, 4, 5)
ITEMS = pl.DataFrame({"id": ["b/1", "a/2"], "options": [2, 4]})


def predictions(chosen: np.ndarray, items: pl.DataFrame = ITEMS, corruptions=CORRUPTIONS) -> pl.DataFrame:
    """Predictions of option chosen[item, corruption, severity], and clean ones that differ."""
    rows = []
    for i, (id_, options) in enumerate(items.rows()):
        rows.append((id_, "clean", 0, [0.0] * (options - 1) + [1.0]))
        for (c, corruption), (s, severity) in product(enumerate(corruptions), enumerate(SEVERITIES)):
            rows.append((id_, corruption, severity, np.eye(options)[chosen[i, c, s]].tolist()))
    schema = {"id": pl.String, "corruption": pl.String, "severity": pl.Int64, "logits": pl.List(pl.Float32)}
    return pl.DataFrame(rows, schema=schema, orient="row")


INCONSISTENT = np.array([[[0, 0, 0, 0, 0], [0, 1, 0, 0, 1]], [[3, 3, 3, 3, 3], [0, 1, 2, 3, 3]]])
WHOLE = predictions(INCONSISTENT)
FIRM = np.array([[[1] * 5, [0] * 5], [[3] * 5, [2, 2, 2, 2, 1]]])


@pytest.mark.parametrize(
    ("predictions", "options", "expected"),
    [
        ([0, 0, 0, 0, 0], 4, 0.0),
        ([0, 0, 0, 0, 1], 2, (1 - 16 / 25 - 1 / 25) / (1 / 2)),
        ([0, 0, 0, 1, 1], 2, (1 - 9 / 25 - 4 / 25) / (1 / 2)),
        ([0, 1, 2, 3, 3], 4, (1 - 3 / 25 - 4 / 25) / (3 / 4)),
        ([0, 1, 2, 3, 4], 5, 1.0),
        ([0, 1], 2, 1.0),
        ([1], 2, 0.0),
    ],
)
def test_gini_by_hand(predictions, options, expected):
    assert gini(predictions, options) == pytest.approx(expected, abs=1e-15)


def test_gini_takes_its_own_number_of_options_for_every_row():
    found = gini([[[0, 1], [0, 0]], [[0, 1], [1, 0]]], [[2], [4]])
    np.testing.assert_allclose(found, [[1.0, 0.0], [2 / 3, 2 / 3]], atol=1e-15)


@given(st.integers(2, 6), st.data())
def test_gini_is_a_share_and_zero_for_agreement_only(options, data):
    choices = hnp.arrays(np.int64, st.integers(1, 7), elements=st.integers(0, options - 1))
    predictions = data.draw(choices)
    value = float(gini(predictions, options))
    assert 0 <= value <= 1
    assert (value == 0) == (len(set(predictions.tolist())) == 1)
    assert value == gini(predictions[::-1], options)
    assert value == gini(options - 1 - predictions, options)  # the options' names do not matter


@pytest.mark.parametrize(
    ("predictions", "options", "message"),
    [
        ([0, 0], 1, "fewer than two options"),
        ([0, 2], 2, "not one of the item's options"),
        ([-1, 0], 2, "not one of the item's options"),
        ([], 2, "at least one prediction"),
        (1, 2, "at least one prediction"),
        ([0.0, 1.0], 2, "needs integers"),
        ([0, 1], 2.0, "needs integers"),
    ],
)
def test_gini_refuses_what_has_no_value(predictions, options, message):
    with pytest.raises(ValueError, match=message):
        gini(predictions, options)


def test_kappa_and_its_parts_by_hand():
    table = kappa({"one": WHOLE, "two": predictions(FIRM)}, ITEMS, CORRUPTIONS)
    assert dict(table.schema) == dict(pl.Schema(KAPPA.columns))
    assert table["id"].to_list() == ["b/1", "a/2"]
    expected = [
        [0.0, (1 - 13 / 25) / (1 / 2), 0.0, 0.0],
        [0.0, (1 - 7 / 25) / (3 / 4), 0.0, (1 - 17 / 25) / (3 / 4)],
    ]
    for row, wanted in zip(table.rows(named=True), expected, strict=True):
        assert row["kappa"] == pytest.approx(sum(wanted) / 4, abs=1e-15)
        assert [part["gini"] for part in row["gini"]] == pytest.approx(wanted, abs=1e-15)
        pairs = [(part["selector"], part["corruption"]) for part in row["gini"]]
        assert pairs == [*product(("one", "two"), CORRUPTIONS)]


@settings(max_examples=40)
@given(hnp.arrays(np.int64, (2, 2, 2, 5), elements=st.integers(0, 1)))
def test_kappa_is_zero_only_where_all_five_predictions_agree_for_every_pair(chosen):
    table = kappa({"one": predictions(chosen[0]), "two": predictions(chosen[1])}, ITEMS, CORRUPTIONS)
    agree = (chosen == chosen[..., :1]).all(axis=(0, 2, 3))  # [items]
    assert (table["kappa"] == 0).to_list() == agree.tolist()
    assert table["kappa"].is_between(0, 1).all()


def test_the_order_of_predictions_and_other_corruptions_change_nothing_but_fewer_severities_do():
    expected = kappa({"one": WHOLE}, ITEMS, ["blur"])
    more = pl.concat([WHOLE, predictions(INCONSISTENT[:, ::-1], corruptions=("snow", "rain"))])
    assert kappa({"one": more.reverse()}, ITEMS, ["blur"]).equals(expected)
    assert expected["kappa"].to_list() == pytest.approx([0.96, 0.96])
    table = kappa({"one": WHOLE}, ITEMS, ["blur"], severities=(1, 3))
    assert table["kappa"].to_list() == pytest.approx([0.0, 2 / 3])


def test_the_parts_of_many_items_are_in_their_rows():
    items = pl.DataFrame({"id": [f"a/{number}" for number in range(300)], "options": 2})
    chosen = np.random.default_rng(1).integers(0, 2, (300, 2, 5))
    table = kappa({"one": predictions(chosen, items)}, items, CORRUPTIONS)
    means = table["gini"].list.eval(pl.element().struct.field("gini")).list.mean()
    assert means.to_list() == pytest.approx(table["kappa"].to_list(), abs=1e-12)


FOG_4 = (pl.col("corruption") == "fog") & (pl.col("severity") == 4)
FOUR = ITEMS.with_columns(options=pl.lit(4))
# One logit too many, of the first prediction of b/1 and of all of a/2.
LONGER = WHOLE.with_columns(
    logits=pl.when((pl.col("id") == "a/2") | (pl.col("corruption") == "fog") & (pl.col("severity") == 1))
    .then(pl.concat_list("logits", pl.lit(0, pl.Float32)))
    .otherwise("logits")
)


@pytest.mark.parametrize(
    ("frame", "items", "message"),
    [
        (
            WHOLE.filter(~FOG_4),
            ITEMS,
            r"selector one: 2 missing predictions: \(a/2, fog, 4\), \(b/1, fog, 4\)",
        ),
        (pl.concat([WHOLE, WHOLE.slice(3, 1)]), ITEMS, r"1 repeated prediction: \(b/1, fog, 3\)"),
        (WHOLE, ITEMS.head(1), r"10 unexpected predictions: \(a/2, blur, 1\)"),
        (WHOLE, FOUR, r"\(b/1, fog, 1\) has 2 logits, its item has 4 options"),
        (LONGER, ITEMS, r"\(b/1, fog, 1\) has 3 logits, its item has 2 options"),
    ],
)
def test_invalid_predictions_are_named(frame, items, message):
    with pytest.raises(ValueError, match=message):
        kappa({"one": frame}, items, CORRUPTIONS)


AT_LEAST_ONE = "at least one selector, one corruption and one severity"
TWICE = r"occurs twice among fog, .*; name each once"


@pytest.mark.parametrize(
    ("selectors", "corruptions", "severities", "error", "message"),
    [
        ({}, ["fog"], [1], ValueError, AT_LEAST_ONE),
        ({"one": WHOLE}, [], [1], ValueError, AT_LEAST_ONE),
        ({"one": WHOLE}, ["fog"], [], ValueError, AT_LEAST_ONE),
        ({"one": WHOLE}, ["fog", "fog"], [1, 2], InputError, TWICE),
        ({"one": WHOLE}, ["fog"], [1, 2, 2], InputError, TWICE),
        ({"one": WHOLE}, ["clean", "fog"], [1, 2], ValueError, "clean predictions"),
        ({"one": WHOLE}, ["fog"], [0, 1], ValueError, "clean predictions"),
        ({"one": WHOLE}, ["fog"], [3], InputError, "severity 3 alone gives every item kappa 0"),
    ],
)
def test_what_does_not_count_once_is_refused(selectors, corruptions, severities, error, message):
    with pytest.raises(error, match=message):
        kappa(selectors, ITEMS, corruptions, severities)
