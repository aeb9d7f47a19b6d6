import math

import numpy as np
import polars as pl

from benchc.statistics.rounding import rounded, tied, tied_series


def test_nine_decimals_are_kept_a_zero_has_no_sign_and_what_is_undefined_is_null() -> None:
    # docs/decisions.md: values that agree to 9 decimals are equal.
    found = rounded(np.array([0.1234567894, 0.1234567896, -1e-10, -0.0, np.nan])).to_list()
    assert found == [0.123456789, 0.12345679, 0, 0, None]
    assert [math.copysign(1, value) for value in found[2:4]] == [1, 1]


def test_values_that_agree_are_the_first_of_them_and_others_stay() -> None:
    near, other = 0.4916015625, 0.49160156250000003
    values = np.array([[near, other, 0.3, np.nan], [np.inf, other, near, -np.inf]])
    found = tied(values)
    assert found.tolist()[0][:3] == [near, near, 0.3] and np.isnan(found[0, 3])
    assert found.tolist()[1] == [np.inf, other, other, -np.inf]
    assert tied(np.array([1.0, 1.0 + 2e-9])).tolist() == [1.0, 1.0 + 2e-9]
    assert tied_series(pl.Series([near, None, other, np.nan])).to_list() == [near, None, near, None]
