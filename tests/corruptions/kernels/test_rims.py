"""Edges and distances are OpenCV's."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.corruptions.kernels.rims import edges, mean_distances


@given(
    height=st.integers(32, 130),
    width=st.integers(32, 130),
    sigma=st.sampled_from([0.5, 1.0, 2.0, 4.0]),
    spread=st.integers(20, 400),
    dry=st.integers(0, 200),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=150)
def test_edges_match_opencvs_canny(
    height: int, width: int, sigma: float, spread: int, dry: int, seed: int
) -> None:
    noise = np.random.default_rng(seed).normal(size=(height, width))
    noise = cv2.GaussianBlur(noise, (0, 0), sigma)
    plane = np.clip(128 + spread * noise / noise.std(), 0, 255).astype(np.uint8)
    plane[plane < dry] = 0
    # A smooth plane has weak ridges in long chains, from which few pixels are strong.
    np.testing.assert_array_equal(edges(plane, 50, 150) * 255, cv2.Canny(plane, 50, 150))
    np.testing.assert_array_equal(edges(plane, 5, 250) * 255, cv2.Canny(plane, 5, 250))


@given(
    height=st.integers(32, 130),
    width=st.integers(32, 130),
    share=st.sampled_from([0.0, 0.0005, 0.01, 0.2, 1.0]),
    limit=st.integers(1, 31),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=150)
def test_mean_distances_match_opencv(height: int, width: int, share: float, limit: int, seed: int) -> None:
    rims = (np.random.default_rng(seed).random((height, width)) < share).astype(np.uint8)
    distances = np.minimum(cv2.distanceTransform(1 - rims, cv2.DIST_L2, 5), limit)
    expected = cv2.blur(distances, (3, 3)).astype(np.uint8)
    found = mean_distances(rims, limit)
    # OpenCV's sums of floats may round to the other side of an integer.
    assert (found != expected).mean() <= 0.001
    assert np.abs(found.astype(int) - expected).max() <= 1


def test_a_limit_beyond_the_reach_is_refused() -> None:
    with pytest.raises(ValueError, match="up to a limit of 31, not 32"):
        mean_distances(np.zeros((40, 40), np.uint8), 32)
