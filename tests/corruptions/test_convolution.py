import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from benchc.corruptions.convolution import (
    TRUNCATION_BIAS,
    border_indices,
    gaussian_kernel,
    separable,
    separable_image,
)

BORDERS = ("nearest", "reflect", "mirror")


@settings(max_examples=60)
@given(*[st.integers(1, 40)] * 2, *[st.floats(0.3, 12)] * 2, st.sampled_from(BORDERS), st.integers(0, 2**32))
def test_separable_agrees_with_scipy(height, width, sigma_y, sigma_x, border, seed):
    plane = np.random.default_rng(seed).random((height, width), dtype=np.float32)
    result = separable(plane, gaussian_kernel(sigma_y, 3.0), gaussian_kernel(sigma_x, 3.0), border)
    expected = ndimage.gaussian_filter(plane.astype(float), (sigma_y, sigma_x), mode=border, truncate=3.0)
    assert result == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("border", BORDERS)
def test_border_indices_agree_with_scipy(border):
    for length, margin in ((1, 3), (2, 5), (7, 3), (7, 20)):
        positions = np.arange(-margin, length + margin, dtype=float)
        row = ndimage.map_coordinates(np.arange(float(length)), [positions], order=0, mode=border)
        assert np.array_equal(border_indices(length, margin, border), row)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 6.0])
def test_an_area_of_one_colour_keeps_it(sigma):
    levels = np.arange(256, dtype=np.uint8).reshape(256, 1, 1)
    for image in np.broadcast_to(levels[:, None], (256, 20, 30, 3)):
        assert np.array_equal(separable_image(image, gaussian_kernel(sigma), "nearest"), image)
        # Of two neighbouring levels, one is lowered.
        bias = np.where(np.arange(256) % 2, -TRUNCATION_BIAS, TRUNCATION_BIAS).astype(np.float32)
        lowered = separable_image(image, gaussian_kernel(sigma), "nearest", bias)
        assert np.array_equal(lowered, image - image % 2)


@pytest.mark.parametrize("kernel", [[0.5, 0.5], [0.5, 0.3, 0.2], [[1.0]]])
def test_other_kernels_are_refused(kernel):
    with pytest.raises(ValueError, match="symmetric and of odd length"):
        separable(np.zeros((4, 4), np.float32), np.float32(kernel), gaussian_kernel(1.0), "nearest")


def test_an_image_needs_weights_that_keep_its_range():
    with pytest.raises(ValueError, match="with sum 1"):
        separable_image(np.zeros((4, 4, 3), np.uint8), np.float32([-1, 3, -1]), "nearest")
    with pytest.raises(ValueError, match="sigma must be above 0"):
        gaussian_kernel(0)
