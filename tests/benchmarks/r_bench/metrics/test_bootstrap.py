"""Ranks with their stability, and what is kept of the score on reference images."""

import numpy as np
import pytest

from benchc.benchmarks.r_bench.metrics.bootstrap import Draws, order


def test_stability_is_the_share_of_resamples_with_the_same_rank() -> None:
    nan = np.nan
    sample, draws = [0.2, 0.9, nan], [[0.3, 0.8, nan], [0.1, 0.7, nan], [0.5, 0.5, nan], [0.4, 0.6, nan]]
    ranks, stable = order(np.array([sample, *draws]))
    # Of equal values, both have the better rank.
    assert ranks == [2, 1, None] and stable == [3 / 4, 1, None]


def test_nothing_is_kept_of_no_score() -> None:
    of = {"absolute": 0.3, "ref": 0.6, "relative": 0.2}
    drawn = Draws(**{name: np.array([[[value, value]]]) for name, value in of.items()})
    drawn.ref[..., 1] = 0
    np.testing.assert_allclose(drawn.kept, [[[0.5, np.nan]]])
    assert drawn.effect.ravel().tolist() == pytest.approx([0.3, -0.3])
    assert drawn.ranking.ravel().tolist() == pytest.approx([0.25, 0.25])
