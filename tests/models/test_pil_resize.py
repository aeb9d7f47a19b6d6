"""Pillow is the oracle of the resampling that replaces it."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from benchc.models import pil_resize
from benchc.models.pil_resize import FILTERS, agrees_with_pillow, resize

SIDE = st.integers(1, 90)


@given(SIDE, SIDE, SIDE, SIDE, st.sampled_from(list(FILTERS)), st.booleans(), st.integers(0, 99))
# The rows first, then the columns first, at the limit: 20 rows fewer against 10 columns fewer.
@example(41, 40, 20, 30, Image.Resampling.BICUBIC, False, 1)
@example(40, 40, 20, 30, Image.Resampling.BICUBIC, False, 1)
@example(1, 1, 90, 90, Image.Resampling.LANCZOS, True, 1)
def test_every_value_is_pillows(height, width, new_height, new_width, resample, extreme, seed):
    generator = np.random.default_rng(seed)
    # Values of 0 and 255 alone make most filters exceed the range.
    values = generator.integers(0, 2 if extreme else 256, (height, width, 3)) * (255 if extreme else 1)
    pixels = values.astype(np.uint8)
    expected = np.asarray(Image.fromarray(pixels).resize((new_width, new_height), resample))
    np.testing.assert_array_equal(resize(pixels, new_width, new_height, resample), expected)


def test_pixels_that_are_not_contiguous_are_resized_as_others():
    pixels = np.random.default_rng(1).integers(0, 256, (40, 60, 3), np.uint8)[::-1, ::2]
    expected = np.asarray(Image.fromarray(pixels.copy()).resize((17, 50), Image.Resampling.LANCZOS))
    np.testing.assert_array_equal(resize(pixels, 17, 50, Image.Resampling.LANCZOS), expected)


def test_another_pillow_is_noticed(monkeypatch: pytest.MonkeyPatch):
    agrees_with_pillow.cache_clear()
    assert agrees_with_pillow()
    # As of versions that always resize the columns first.
    monkeypatch.setattr(
        pil_resize,
        "resize",
        lambda image, width, height, resample: pil_resize._rows_resized(
            pil_resize._columns_resized(image, width, resample), height, resample
        ),
    )
    agrees_with_pillow.cache_clear()
    assert not agrees_with_pillow()
    agrees_with_pillow.cache_clear()
