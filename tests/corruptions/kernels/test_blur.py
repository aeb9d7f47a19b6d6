import math

import imagecorruptions
import imagecorruptions.corruptions as package
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, uniform

from benchc.corruptions.kernels.defocus_blur import defocus_blur
from benchc.corruptions.kernels.gaussian_blur import gaussian_blur
from benchc.corruptions.kernels.glass_blur import draw_glass_offsets, glass_blur
from benchc.corruptions.kernels.motion_blur import draw_motion_angle, motion_blur
from benchc.corruptions.kernels.zoom_blur import zoom_blur
from benchc.corruptions.registry import type_of
from tests.corruptions.likeness import assert_same_distribution, assert_same_pixels
from tests.corruptions.photos import PHOTOS, photo

DETERMINISTIC = {"defocus_blur": defocus_blur, "gaussian_blur": gaussian_blur, "zoom_blur": zoom_blur}
SEVERITIES = (1, 2, 3, 4, 5)
# In 71 and 160, scipy's zoom leaves the last row or column of an enlargement black.
SIZES = ((32, 32), (71, 160), (224, 224), (375, 500))


def generator(seed):
    return np.random.Generator(np.random.SFC64(seed))


def reference(name, image, severity, **keywords):
    return imagecorruptions.corrupt(image, corruption_name=name, severity=severity, **keywords)


@pytest.mark.parametrize("name", DETERMINISTIC)
@pytest.mark.parametrize("severity", SEVERITIES)
def test_deterministic_blurs_match_imagecorruptions(name, severity):
    for i, size in enumerate(SIZES):
        image = photo(PHOTOS[severity + i], *size)
        assert_same_pixels(blurred(name, image, severity), reference(name, image, severity))


@pytest.mark.parametrize("name", DETERMINISTIC)
@settings(max_examples=12)
@given(st.integers(32, 80), st.integers(32, 80), st.sampled_from(SEVERITIES), st.integers(0, 2**32))
def test_deterministic_blurs_agree_on_any_content(name, height, width, severity, seed):
    image = generator(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    image[:, : width // 2] = image[0, 0]  # an area of one colour
    assert_same_pixels(blurred(name, image, severity), reference(name, image, severity))


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("angle", [-44.9, -30.0, 0.0, 13.7, 45.0])
def test_motion_blur_matches_imagecorruptions_at_the_same_angle(monkeypatch, severity, angle):
    monkeypatch.setattr(np.random, "uniform", lambda low, high: angle)
    # At 32 pixels the smear of severity 5 ends early.
    for size in ((32, 33), (224, 224), (375, 500)):
        image = photo(PHOTOS[severity], *size)
        result = motion_blur(image, angle, **type_of("motion_blur").at(severity))
        assert_same_pixels(result, reference("motion_blur", image, severity))


def shuffle_by_definition(pixels, cells, max_delta, swap):
    """The published loop, one pixel at a time; ``cells`` are from draw_glass_offsets."""
    height, width, _ = pixels.shape
    for layer in cells:
        for h in range(height - max_delta, max_delta, -1):
            for w in range(width - max_delta, max_delta, -1):
                cell = int(layer[h - max_delta - 1, w - max_delta - 1])
                h_other = h + cell // (2 * max_delta) - max_delta
                w_other = w + cell % (2 * max_delta) - max_delta
                own = pixels[h, w].copy()
                pixels[h, w] = pixels[h_other, w_other]
                if swap:
                    pixels[h_other, w_other] = own
    return pixels


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("severity", SEVERITIES)
def test_glass_blur_matches_imagecorruptions_for_the_same_offsets(monkeypatch, severity, swap):
    image = photo(PHOTOS[severity], 50, 67)
    parameters = type_of("glass_blur_swap" if swap else "glass_blur").at(severity)
    cells = draw_glass_offsets(generator(severity), *image.shape[:2], **parameters)

    def shuffle(height, width, pixels, constants, seed):
        assert constants[1:] == (parameters["max_delta"], parameters["iterations"])
        return shuffle_by_definition(pixels, cells, parameters["max_delta"], swap)

    monkeypatch.setattr(package, "_shuffle_pixels_njit_glass_blur", shuffle)
    assert_same_pixels(glass_blur(image, cells, **parameters), reference("glass_blur", image, severity))


# 15 degrees keep the longest smear within 32 x 48 pixels.
ANGLE = 15.0


def blurred(name, image, severity):
    parameters = type_of(name).at(severity)
    if name == "motion_blur":
        return motion_blur(image, ANGLE, **parameters)
    if name == "glass_blur":
        cells = draw_glass_offsets(generator(severity), *image.shape[:2], **parameters)
        return glass_blur(image, cells, **parameters)
    return DETERMINISTIC[name](image, **parameters)


@pytest.mark.parametrize("name", ["gaussian_blur", "glass_blur", "motion_blur", "zoom_blur"])
@pytest.mark.parametrize("severity", SEVERITIES)
def test_flat_areas_match_imagecorruptions(monkeypatch, name, severity):
    monkeypatch.setattr(np.random, "uniform", lambda low, high: ANGLE)
    # No shuffle changes such an area.
    monkeypatch.setattr(package, "_shuffle_pixels_njit_glass_blur", lambda h, w, pixels, c, seed: pixels)
    images = [np.full((32, 48, 3), (v, v + 85, v + 170), np.uint8) for v in range(86)]
    results = [blurred(name, image, severity) for image in images]
    for image, result in zip(images, results, strict=True):
        assert np.abs(result.astype(int) - reference(name, image, severity)).max() <= 1
    # numpy's exponential, and so imagecorruptions' level, depends on whether the processor has AVX-512.
    monkeypatch.setattr(np, "exp", np.vectorize(math.exp))
    for image, result in zip(images, results, strict=True):
        assert np.array_equal(result, reference(name, image, severity))


@pytest.mark.parametrize("max_delta", [1, 2, 3, 4])
def test_partners_are_equally_likely(max_delta):
    parameters = {"sigma": 1.0, "max_delta": max_delta, "iterations": 2, "swap": False}
    cells = draw_glass_offsets(generator(0), 400, 500, **parameters)
    assert cells.shape == (2, 400 - 2 * max_delta, 500 - 2 * max_delta)
    counts = np.bincount(cells.reshape(-1))
    assert counts.size == 4 * max_delta**2
    assert np.abs(counts / counts.mean() - 1).max() < 5 / np.sqrt(counts.mean())


# Offsets are drawn alike at all severities but for number and range: 3 is no power of two, 4 the largest.
@pytest.mark.parametrize("severity", [4, 5])
def test_glass_blur_has_the_distribution_of_imagecorruptions(severity):
    # On smaller photos the mean of 120 samples is less certain than the tolerance.
    image = photo(PHOTOS[severity], 240, 320)
    parameters = type_of("glass_blur").at(severity)

    def ours(seed):
        cells = draw_glass_offsets(generator(seed), 240, 320, **parameters)
        return glass_blur(image, cells, **parameters)

    def of_reference(seed):
        return reference("glass_blur", image, severity, seed=seed)

    assert_same_distribution(ours, of_reference, image, draws=120)


def test_motion_blur_has_the_distribution_of_imagecorruptions():
    severity = 5  # angles are drawn alike at all
    # Symmetric, because more angles above 0 than below, by chance, would otherwise move the mean.
    image = photo(PHOTOS[severity], 80, 128)
    image = np.concatenate([image, image[::-1]])
    parameters = type_of("motion_blur").at(severity)

    def of_reference(seed):
        np.random.seed(seed)  # noqa: NPY002 (imagecorruptions uses no other)
        return reference("motion_blur", image, severity)

    def ours(seed):
        return motion_blur(image, draw_motion_angle(generator(seed), 160, 128, **parameters), **parameters)

    assert_same_distribution(ours, of_reference, image, draws=400)


def test_angles_are_uniform():
    parameters = type_of("motion_blur").at(1)
    angles = [draw_motion_angle(generator(seed), 32, 32, **parameters) for seed in range(2000)]
    assert kstest(angles, uniform(-45, 90).cdf).pvalue > 0.01
