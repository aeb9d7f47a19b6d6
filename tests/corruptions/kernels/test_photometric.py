import imagecorruptions
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchc.corruptions.kernels import photometric
from benchc.corruptions.registry import type_of
from tests.corruptions.photos import photo

NAMES = ("brightness", "contrast", "saturate")
SEVERITIES = (1, 2, 3, 4, 5)
GREYS = np.repeat(np.arange(256, dtype=np.uint8), 4 * 3).reshape(32, 32, 3)


def ours(name, image, severity):
    return getattr(photometric, name)(image, **type_of(name).at(severity))


def largest_gap(name, image, severity):
    reference = imagecorruptions.corrupt(image, corruption_name=name, severity=severity)
    return np.abs(ours(name, image, severity).astype(int) - reference).max()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [(33, 57), (224, 224), (480, 640)])
def test_photos_match_imagecorruptions_within_a_level(name, size):
    gaps = [largest_gap(name, photo("astronaut", *size), severity) for severity in SEVERITIES]
    assert max(gaps) <= 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("severity", SEVERITIES)
def test_greys_match_imagecorruptions(name, severity):
    # Around a mean of 0.5, contrast gives some integer levels, which imagecorruptions' floats miss.
    assert largest_gap(name, GREYS, severity) <= (1 if name == "contrast" else 0)


# Few distinct levels, so that channels tie for the largest and the smallest.
LEVELS = st.sampled_from([0, 1, 2, 85, 127, 128, 254, 255]) | st.integers(0, 255)


@settings(max_examples=25)
@given(
    colours=arrays(np.uint8, (64, 3), elements=LEVELS),
    name=st.sampled_from(NAMES),
    severity=st.sampled_from(SEVERITIES),
)
def test_any_colours_match_imagecorruptions_within_a_level(colours, name, severity):
    image = np.tile(colours, (16, 1)).reshape(32, 32, 3)
    assert largest_gap(name, image, severity) <= 1


def test_saturate_turns_grey_red_where_it_adds_saturation_and_contrast_keeps_each_channels_mean():
    image = np.full((32, 32, 3), 200, np.uint8)
    assert (ours("saturate", image, 3) == 200).all()
    assert (ours("saturate", image, 5) == [200, 160, 160]).all()
    image = np.zeros((32, 32, 3), np.uint8)
    image[:16, :, 0] = 255
    image[:, :, 2] = 90
    result = ours("contrast", image, 5)
    assert (result[..., 1:] == [0, 90]).all()
    assert result[..., 0].mean() == pytest.approx(127.5, abs=1)
    assert np.ptp(result[..., 0].astype(int)) == pytest.approx(0.05 * 255, abs=1)
