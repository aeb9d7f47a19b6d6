import numpy as np
import polars as pl
import pytest

from benchc.errors import InputError
from benchc.schemas.logits import logit_blocks


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
