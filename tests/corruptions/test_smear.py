import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imagecorruptions.corruptions import _motion_blur

from benchc.corruptions.smear import TRUNCATION_BIAS, Line, line_taps, smear, smear_bias, smear_image


@settings(max_examples=60)
@given(
    st.integers(1, 50),
    st.integers(1, 50),
    st.integers(1, 20),
    st.floats(0.5, 15),
    st.floats(-180, 180),
    st.integers(0, 2**32),
)
def test_a_smear_matches_imagecorruptions(height, width, radius, sigma, angle, seed):
    plane = np.random.default_rng(seed).random((height, width), dtype=np.float32)
    result = smear(plane, line_taps(radius, sigma, angle, height, width))
    assert result == pytest.approx(_motion_blur(plane, radius, sigma, angle), abs=2e-6)


def test_channels_are_smeared_equally():
    planes = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    line = line_taps(5, 3.0, 150.0, 20, 30)
    expected = np.stack([smear(planes[..., i].astype(np.float32), line) for i in range(3)], axis=2)
    assert np.array_equal(smear_image(planes, line), (expected + np.float32(2**-10)).astype(np.uint8))


def test_the_bias_is_that_of_the_nearest_level():
    line = line_taps(5, 3.0, 150.0, 20, 30)
    bias = np.where(np.arange(256) % 2, -TRUNCATION_BIAS, TRUNCATION_BIAS).astype(np.float32)
    for level in range(256):
        image = np.full((20, 30, 3), level, np.uint8)
        assert np.array_equal(smear_image(image, line, bias), image - image % 2)


@pytest.mark.parametrize("below", [0.75, 1.5])
def test_a_value_within_a_thousandth_of_the_next_level_has_it(below):
    image = np.array([[[100], [0]]], np.uint8).repeat(3, axis=2)
    share = below * 2**-10 / 100
    line = Line(np.array([0, 0]), np.array([0, 1]), np.float32([1 - share, share]))
    assert smear_image(image, line)[0, 0].tolist() == [100 if below < 1 else 99] * 3


def test_the_bias_lowers_the_levels_that_a_sum_of_weighted_levels_lowers():
    weights = np.array([math.exp(-(x**2) / (2 * 3.0**2)) for x in range(11)])
    weights /= np.sqrt(2 * np.pi) * 3.0
    weights /= weights.sum()
    lowered = [sum(float(weight) * level for weight in weights) < level for level in range(256)]
    assert 0 < sum(lowered) < 256
    expected = np.where(lowered, -TRUNCATION_BIAS, TRUNCATION_BIAS)
    assert np.array_equal(smear_bias(5, 3.0), expected)


def test_a_smear_longer_than_the_image_ends_early():
    line = line_taps(10, 8.0, 0.0, 32, 15)
    assert line.columns.tolist() == list(range(15))
    assert line.weights.sum() < 0.97
    # Where it leaves the rows and the columns with the same tap, too.
    assert line_taps(10, 8.0, 45.0, 6, 6).rows.max() == 5
