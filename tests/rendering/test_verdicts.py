import polars as pl
import pytest

from benchc.rendering.verdicts import FAILS, HOLDS, NOT_APPLICABLE, UNKNOWN, counts_of


@pytest.mark.parametrize(
    ("verdicts", "text"),
    [
        ([HOLDS, NOT_APPLICABLE, HOLDS, FAILS], "2 of 4 hold, 1 does not, 1 is not applicable"),
        ([FAILS, HOLDS, UNKNOWN, FAILS], "1 of 4 holds, 2 do not, 1 cannot be told"),
        ([NOT_APPLICABLE] * 2, "0 of 2 hold, 2 are not applicable"),
        ([UNKNOWN] * 3, "0 of 3 hold, 3 cannot be told"),
    ],
)
def test_the_claims_of_each_verdict_are_counted(verdicts, text):
    assert counts_of(pl.Series(verdicts, dtype=pl.String)) == text
