"""Strips of images, and the corruptions that the page has room for."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from benchc.rendering.results_page import pictures
from benchc.rendering.results_page.declaration import MOST_STRIPS
from benchc.rendering.results_page.pictures import shown_corruptions, strip


def opened(data: bytes) -> np.ndarray:
    return np.array(Image.open(io.BytesIO(data)).convert("RGB"))


def test_frames_are_below_each_other_and_small_ones_keep_their_pixels() -> None:
    frames = [np.random.default_rng(seed).integers(0, 256, (30, 40, 3), np.uint8) for seed in range(3)]
    np.testing.assert_array_equal(opened(strip(frames, 480)), np.concatenate(frames))


@pytest.mark.parametrize(
    ("shape", "side", "cell"),
    [((600, 300), 480, (480, 240)), ((1, 5000), 480, (1, 480)), ((700, 700), 200, (200, 200))],
)
def test_large_images_are_scaled(shape: tuple[int, int], side: int, cell: tuple[int, int]) -> None:
    frames = [np.full((*shape, 3), level, np.uint8) for level in (0, 200)]
    found = opened(strip(frames, side))
    assert found.shape == (2 * cell[0], cell[1], 3)
    assert abs(int(found[-1, -1, 0]) - 200) < 4 and found[0, 0, 0] < 4


def test_a_frame_of_another_shape_is_centred_in_the_cell_of_the_first() -> None:
    clean, wide = np.zeros((40, 40, 3), np.uint8), np.full((20, 80, 3), 255, np.uint8)
    found = opened(strip([clean, wide], 480))[40:]
    np.testing.assert_array_equal(found[:15], 128)
    np.testing.assert_array_equal(found[15:25], 255)
    np.testing.assert_array_equal(found[25:], 128)


def test_many_severities_fit_into_one_webp() -> None:
    frames = [np.zeros((900, 900, 3), np.uint8)] * 41
    assert opened(strip(frames, 480)).shape[0] == 41 * (pictures.TALLEST // 41)


def test_corruptions_are_of_each_group_in_turn() -> None:
    groups = {"fog": "weather", "snow": "weather", "blur": "blur", "frost": "weather", "zoom": "blur"}
    assert shown_corruptions(groups, dict.fromkeys(groups, MOST_STRIPS // 3)) == ["fog", "snow", "blur"]
    assert shown_corruptions(groups, dict.fromkeys(groups, 10)) == [*groups]
    # One is shown in any case.
    assert shown_corruptions(groups, dict.fromkeys(groups, MOST_STRIPS + 1)) == ["fog"]
    # Where each image is under one corruption, there is room for all.
    assert shown_corruptions(groups, dict.fromkeys(groups, MOST_STRIPS // 5)) == [*groups]


@given(
    st.dictionaries(st.text(min_size=1), st.tuples(st.sampled_from("abc"), st.integers(0, 2000)), min_size=1)
)
def test_corruptions_fit_and_keep_the_order_of_the_run(given: dict[str, tuple[str, int]]) -> None:
    groups = {name: group for name, (group, _) in given.items()}
    counts = {name: count for name, (_, count) in given.items()}
    shown = shown_corruptions(groups, counts)
    assert shown == [name for name in groups if name in shown]
    assert shown and (len(shown) == 1 or sum(counts[name] for name in shown) <= MOST_STRIPS)


@pytest.mark.parametrize("shape", [(1, 1), (1, 900), (900, 1), (20_000, 3)])
def test_images_of_one_pixel_and_very_tall_ones_have_all_frames(shape: tuple[int, int]) -> None:
    frames = [np.full((*shape, 3), level, np.uint8) for level in (0, 120, 240)]
    found = opened(strip(frames, 480))
    height = found.shape[0] // 3
    assert found.shape[0] == 3 * height and max(height, found.shape[1]) <= 480
    levels = [found[place * height : (place + 1) * height].mean() for place in range(3)]
    np.testing.assert_allclose(levels, [0, 120, 240], atol=6)


def test_a_narrow_frame_of_another_shape_keeps_a_pixel() -> None:
    found = opened(strip([np.zeros((50, 50, 3), np.uint8), np.full((50_000, 2, 3), 255, np.uint8)], 480))
    assert found.shape == (100, 50, 3)
    assert (found[50:] == 255).any() and (found[50:, 0] == 128).all()
