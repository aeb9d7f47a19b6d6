import numpy as np
import polars as pl
import pytest

from benchc.errors import InputError
from benchc.schemas.logits import as_logits, first_names, logit_blocks, prediction


def frame(*rows: list[float | None]) -> pl.DataFrame:
    schema = {"id": pl.String, "corruption": pl.String, "severity": pl.Int64, "logits": pl.List(pl.Float32)}
    named = [(f"s/{number}", "fog", 3, row) for number, row in enumerate(rows)]
    return pl.DataFrame(named, schema=schema, orient="row")


def test_every_row_is_in_the_block_of_its_number_of_options():
    blocks = list(logit_blocks(frame([1, 2], [3, 4, 5], [6, 7])))
    assert [(rows.tolist(), values.tolist()) for rows, values in blocks] == [
        ([0, 2], [[1.0, 2.0], [6.0, 7.0]]),
        ([1], [[3.0, 4.0, 5.0]]),
    ]
    assert all(values.dtype == np.float64 for _, values in blocks)


@pytest.mark.parametrize("bad", [[float("nan"), 0.0], [float("inf"), 0.0], [None, 0.0], [0.0], [], None])
def test_a_bad_prediction_is_named(bad):
    with pytest.raises(InputError, match=r"\(s/1, fog, 3\)"):
        list(logit_blocks(frame([1, 2], bad)))


INF = float("inf")


def test_of_equal_logits_the_first_option_is_predicted() -> None:
    assert prediction([[1, 3, 3], [2, 2, 1], [-INF, -INF, -5]]).tolist() == [1, 0, 2]
    assert prediction([0.5, 1]).dtype == np.int64 and as_logits([[1, 2]]).dtype == np.float64


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (3.0, r"at least two options along the last axis, their shape is \(\)"),
        ([[1.0], [2.0]], r"at least two options along the last axis, their shape is \(2, 1\)"),
        (
            [[0, 1], [0, INF]],
            r"^1 prediction with NaN, \+inf or no finite logit; first \[0.0, inf\] at index",
        ),
        ([[0, np.nan], [-INF, -INF]], r"^2 predictions with NaN, .*; first \[0.0, nan\] at index \(0,\)$"),
        ([[[0, 1], [-INF, -INF]]], r"^1 prediction .*; first \[-inf, -inf\] at index \(0, 1\)$"),
    ],
)
def test_values_that_are_no_logits_are_refused(values: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_logits(values)


def test_a_message_on_bad_predictions_counts_them() -> None:
    few = r"^2 predictions with fewer than two logits; first \(s/1, fog, 3\): every item needs"
    with pytest.raises(InputError, match=few):
        list(logit_blocks(frame([1, 2], [0.0], [0.5])))
    bad = r"^2 predictions with NaN, \+inf or no finite logit; first \(s/1, fog, 3\) with \[nan, 0.0\]: check"
    with pytest.raises(InputError, match=bad):
        list(logit_blocks(frame([1, 2], [float("nan"), 0.0], [-INF, -INF])))
    assert [values.tolist() for _, values in logit_blocks(frame([-INF, 2.0]))] == [[[-INF, 2.0]]]


def test_five_predictions_are_named() -> None:
    five = ", ".join(f"(s/{number}, fog, 3)" for number in range(5))
    assert first_names(frame(*[[1, 2]] * 5)[::-1]) == five
    assert first_names(frame(*[[1, 2]] * 6)) == f"{five}, …"
