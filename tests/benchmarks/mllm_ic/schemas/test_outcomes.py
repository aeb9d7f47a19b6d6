import numpy as np

from benchc.benchmarks.mllm_ic.schemas import outcomes


def test_a_tie_that_is_right_is_right() -> None:
    right = {outcomes.RIGHT, outcomes.TIED_RIGHT}
    codes = np.arange(6, dtype=np.int8).reshape(2, 3)
    assert outcomes.is_right(codes).tolist() == [[code in right for code in row] for row in codes.tolist()]
