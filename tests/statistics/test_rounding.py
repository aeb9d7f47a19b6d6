import math

import numpy as np

from benchc.statistics.rounding import rounded


def test_nine_decimals_are_kept_a_zero_has_no_sign_and_what_is_undefined_is_null() -> None:
    # docs/decisions.md: values that agree to 9 decimals are equal.
    found = rounded(np.array([0.1234567894, 0.1234567896, -1e-10, -0.0, np.nan])).to_list()
    assert found == [0.123456789, 0.12345679, 0, 0, None]
    assert [math.copysign(1, value) for value in found[2:4]] == [1, 1]
