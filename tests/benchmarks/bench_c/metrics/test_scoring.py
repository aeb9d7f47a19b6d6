import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.benchmarks.bench_c.metrics.scoring import Grid, complete, score
from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.errors import InputError
from benchc.schemas.logits import first_names

LOG3 = math.log(3)
ITEMS = pl.DataFrame({"id": ["b/1", "a/2"], "answer": [1, 0], "options": [2, 3]})
PREDICTIONS = [
    ("b/1", "clean", 0, [0.0, LOG3]),
    ("b/1", "fog", 1, [0.0, LOG3]),
    ("b/1", "fog", 2, [LOG3, 0.0]),
    ("b/1", "blur", 1, [0.0, 1e4]),
    ("b/1", "blur", 2, [0.0, 0.0]),
    ("a/2", "clean", 0, [0.0, 0.0, 1e4]),
    ("a/2", "fog", 1, [0.0, 0.0, 0.0]),
    ("a/2", "fog", 2, [1e4, 0.0, 0.0]),
    ("a/2", "blur", 1, [0.0, 0.0, 1e4]),
    ("a/2", "blur", 2, [0.0, 1e4, 0.0]),
]


def frame(rows: list[tuple[str, str, int, list[float]]]) -> pl.DataFrame:
    schema = {"id": pl.String, "corruption": pl.String, "severity": pl.Int64, "logits": pl.List(pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_every_column_by_hand():
    table = score(frame(PREDICTIONS), ITEMS)
    assert dict(table.schema) == dict(pl.Schema(SCORES.columns))
    half = 2 - 0.75 * math.log2(3)  # S of (3/4, 1/4)
    expected = [
        # id, corruption, severity, prediction, clean, correct, clean, max p, S, C, ΔS, ΔC, RAS, transition
        ("b/1", "blur", 1, 1, 1, True, True, 1, 0, 0, -half, -0.25, 0.25, "RR", "stable"),
        ("b/1", "blur", 2, 0, 1, False, True, 0.5, 1, 0.5, 1 - half, 0.25, -0.25, "RW", "degraded"),
        ("b/1", "fog", 1, 1, 1, True, True, 0.75, half, 0.25, 0, 0, 0, "RR", "stable"),
        ("b/1", "fog", 2, 0, 1, False, True, 0.75, half, 0.75, 0, 0.5, -0.5, "RW", "overconfident"),
        ("a/2", "blur", 1, 2, 2, False, False, 1, 0, 1, 0, 0, 0, "WW", "stable"),
        ("a/2", "blur", 2, 1, 2, False, False, 1, 0, 1, 0, 0, 0, "WW", "stable"),
        ("a/2", "fog", 1, 0, 2, True, False, 1 / 3, 1, 2 / 3, 1, -1 / 3, 0, "WR", "hesitant"),
        ("a/2", "fog", 2, 0, 2, True, False, 1, 0, 0, 0, -1, 1, "WR", "stable"),
    ]
    for row, wanted in zip(table.rows(), expected, strict=True):
        assert row[:7] == wanted[:7]
        assert row[7:13] == pytest.approx(wanted[7:13], abs=1e-15)
        assert row[13:] == wanted[13:]


@settings(max_examples=20)
@given(st.permutations(PREDICTIONS))
def test_the_order_of_predictions_changes_nothing(predictions):
    assert score(frame(predictions), ITEMS).equals(score(frame(PREDICTIONS), ITEMS))


@pytest.mark.parametrize("number", range(len(PREDICTIONS)))
def test_a_missing_prediction_is_named(number):
    id_, corruption, severity, _ = PREDICTIONS[number]
    with pytest.raises(ValueError, match=rf"missing prediction: \({id_}, {corruption}, {severity}\)"):
        score(frame(PREDICTIONS[:number] + PREDICTIONS[number + 1 :]), ITEMS)


def test_a_corruption_without_any_prediction_is_missing_too():
    grid = Grid(["blur", "fog"], [1, 2])
    for corruption, severity in ((("blur", "fog"), (2,)), (("fog",), (1, 2))):
        predictions = [row for row in PREDICTIONS if row[1] not in corruption or row[2] not in severity]
        with pytest.raises(InputError, match=r"4 missing predictions: \(a/2, "):
            score(frame(predictions), ITEMS, grid)
        with pytest.raises(InputError, match=r"4 missing predictions: .* no item has its clean prediction"):
            complete(frame(predictions), ITEMS, grid)
    assert score(frame(PREDICTIONS), ITEMS, grid).equals(score(frame(PREDICTIONS), ITEMS))
    predictions = [row for row in PREDICTIONS if row[1:3] != ("fog", 2)]
    with pytest.raises(ValueError, match=r"2 missing predictions: \(a/2, fog, 2\), \(b/1, fog, 2\)"):
        score(frame(predictions), ITEMS)


@pytest.mark.parametrize(
    ("corruptions", "severities", "message"),
    [
        (["blur", "fog", "fog"], [1, 2], r"a corruption or severity occurs twice among blur, fog, .* once"),
        (["blur", "fog"], [1, 2, 2], r"a corruption or severity occurs twice among blur, fog, .* once"),
        (["fog"], [1, 2], r"4 unexpected predictions: \(a/2, "),
        (["fog", "blur"], [1], r"4 unexpected predictions: \(a/2, "),
    ],
)
def test_a_grid_that_names_one_twice_or_lacks_a_prediction_is_refused(corruptions, severities, message):
    with pytest.raises(InputError, match=message):
        score(frame(PREDICTIONS), ITEMS, Grid(corruptions, severities))


@pytest.mark.parametrize(
    ("predictions", "items", "message"),
    [
        ([*PREDICTIONS, PREDICTIONS[2]], ITEMS, r"repeated prediction: \(b/1, fog, 2\)"),
        ([*PREDICTIONS, PREDICTIONS[0]], ITEMS, r"repeated prediction: \(b/1, clean, 0\)"),
        (PREDICTIONS, ITEMS.head(1), r"unexpected predictions: \(a/2, blur, 1\)"),
        ([*PREDICTIONS, ("b/1", "fog", 0, [0.0, 0.0])], ITEMS, r"\(b/1, fog, 0\): severity 0"),
        (
            [*PREDICTIONS, ("b/1", "clean", 1, [0.0, 0.0]), ("b/1", "fog", 0, [0.0, 0.0])],
            ITEMS,
            r"\(b/1, clean, 1\): severity 0 .* \(2 predictions",
        ),
        ([PREDICTIONS[0], PREDICTIONS[5]], ITEMS, "no corrupted predictions"),
        (
            PREDICTIONS,
            ITEMS.with_columns(options=pl.Series([3, 2])),
            r"\(b/1, blur, 1\) has 2 logits, its item has 3 options \(10 predictions like this\)",
        ),
        (
            [*PREDICTIONS[:-1], ("a/2", "blur", 2, [0.0] * 4)],
            ITEMS,
            r"\(a/2, blur, 2\) has 4 logits, its item has 3 options \(1 prediction like this\)",
        ),
        (PREDICTIONS, ITEMS.with_columns(answer=pl.lit(2)), "item b/1: answer 2"),
        (
            PREDICTIONS,
            ITEMS.with_columns(answer=pl.Series([-1, 3])),
            "item b/1: answer -1 is not one of its 2 options",
        ),
        (PREDICTIONS, ITEMS.with_columns(answer=pl.Series([1, None])), "item a/2: answer None"),
        (PREDICTIONS, pl.concat([ITEMS, ITEMS]), "items occur twice"),
        (
            [*PREDICTIONS[:-1], ("a/2", "blur", 2, [0.0, math.nan, 0.0])],
            ITEMS,
            r"NaN, \+inf or no finite logit; first \(a/2, blur, 2\)",
        ),
    ],
)
def test_invalid_predictions_are_named(predictions, items, message):
    with pytest.raises(ValueError, match=message):
        score(frame(predictions), items)


@settings(max_examples=50)
@given(st.permutations(PREDICTIONS), st.sets(st.integers(0, len(PREDICTIONS) - 1), max_size=6))
def test_complete_items_are_those_with_every_prediction_that_occurs(predictions, dropped):
    kept = [row for number, row in enumerate(predictions) if number not in dropped]
    corruptions, severities = ({row[column] for row in kept} - {"clean", 0} for column in (1, 2))
    needed = {("clean", 0), *((name, level) for name in corruptions for level in severities)}
    lacks = {id_: needed - {row[1:3] for row in kept if row[0] == id_} for id_ in ITEMS["id"]}
    whole = [id_ for id_, keys in lacks.items() if not keys]
    if not whole or not corruptions:
        with pytest.raises(InputError, match=r"no item has its clean|no corrupted predictions"):
            complete(frame(kept), ITEMS)
        return
    left, items, missing = complete(frame(kept), ITEMS)
    assert items["id"].to_list() == whole
    assert missing.rows() == sorted((id_, *key) for id_, keys in lacks.items() for key in keys)
    assert left.rows() == [row for row in frame(kept).rows() if row[0] in whole]
    score(left, items)


@pytest.mark.parametrize(
    ("predictions", "items", "message"),
    [
        ([*PREDICTIONS[1:], PREDICTIONS[2]], ITEMS, r"repeated prediction: \(b/1, fog, 2\)"),
        (PREDICTIONS[:-1], ITEMS.head(1), r"unexpected predictions: \(a/2, blur, 1\)"),
        (
            PREDICTIONS[:2] + PREDICTIONS[7:],
            ITEMS,
            r"5 missing predictions: \(a/2, clean, 0\), .*; no item has",
        ),
    ],
)
def test_leaving_items_out_hides_no_other_error(predictions, items, message):
    with pytest.raises(InputError, match=message):
        complete(frame(predictions), items)


def test_the_first_predictions_are_named_in_order():
    keys = frame([("s/1", "fog", level, []) for level in (6, 5, 4, 3, 2, 1)]).drop("logits")
    names = [f"(s/1, fog, {level})" for level in range(1, 6)]
    assert first_names(keys) == ", ".join([*names, "…"])
    assert first_names(keys[1:]) == ", ".join(names)
