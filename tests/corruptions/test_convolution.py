import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from benchc.corruptions.convolution import (
    TRUNCATION_BIAS,
    border_indices,
    gaussian_bias,
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


@pytest.mark.parametrize("below", [0.75, 1.5])
def test_a_value_within_a_thousandth_of_the_next_level_has_it(below):
    row = np.array([[[0], [100], [0]]], np.uint8).repeat(3, axis=2)
    side = below * 2**-10 / 200
    result = separable_image(row, np.float32([side, 1 - 2 * side, side]), "nearest")
    assert result[0, 1].tolist() == [100 if below < 1 else 99] * 3


@pytest.mark.parametrize(("sigma", "truncate"), [(1.0, {}), (2.3, {}), (2.3, {"truncate": 3.0})])
def test_the_bias_lowers_the_levels_that_scipy_lowers(sigma, truncate):
    radius = int(truncate.get("truncate", 4.0) * sigma + 0.5)
    weights = np.array([math.exp(-0.5 / (sigma * sigma) * x**2) for x in range(-radius, radius + 1)])
    flat = np.broadcast_to(np.arange(256)[:, None, None] / 255, (256, 3, 3))
    for axis in (1, 2):
        flat = ndimage.correlate1d(flat, weights / weights.sum(), axis, mode="nearest")
    lowered = flat[:, 1, 1] * 255 < np.arange(256)
    assert 0 < lowered.sum() < 256
    expected = np.where(lowered, -TRUNCATION_BIAS, TRUNCATION_BIAS)
    assert np.array_equal(gaussian_bias(sigma, **truncate), expected)


def test_a_kernel_reaches_four_standard_deviations():
    assert gaussian_kernel(3.0).size == 2 * 12 + 1
    assert gaussian_kernel(3.0, 2.0).size == 2 * 6 + 1


@pytest.mark.parametrize("kernel", [[0.5, 0.5], [0.5, 0.3, 0.2], [[1.0]], 1.0])
def test_other_kernels_are_refused(kernel):
    with pytest.raises(ValueError, match="symmetric and of odd length"):
        separable(np.zeros((4, 4), np.float32), np.float32(kernel), gaussian_kernel(1.0), "nearest")


def test_an_image_needs_weights_that_keep_its_range():
    image = np.random.default_rng(0).integers(0, 256, (4, 4, 3), np.uint8)
    for kernel in ([-1, 3, -1], [0.25, 0.501, 0.25], [0.25, 0.499, 0.25]):
        with pytest.raises(ValueError, match="with sum 1"):
            separable_image(image, np.float32(kernel), "nearest")
    assert np.array_equal(separable_image(image, np.float32([0, 1, 0]), "nearest"), image)
    for sigma in (0, -1):
        with pytest.raises(ValueError, match=f"sigma must be above 0, not {sigma}"):
            gaussian_kernel(sigma)
