import numpy as np

from benchc.benchmarks.mllm_ic.schemas import outcomes


def test_a_tie_that_is_right_is_right() -> None:
    right = {outcomes.RIGHT, outcomes.TIED_RIGHT}
    codes = np.arange(6, dtype=np.int8).reshape(2, 3)
    assert outcomes.is_right(codes).tolist() == [[code in right for code in row] for row in codes.tolist()]


def test_scenarios_are_the_clean_image_and_then_the_severities_of_each_corruption() -> None:
    found = [("clean", 0), ("snow", 2), ("snow", 3), ("fog", 2), ("fog", 3)]
    assert outcomes.scenarios(["snow", "fog"], [2, 3]) == found
