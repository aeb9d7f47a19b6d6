"""JPEG, pixelation and elastic transforms against the imagecorruptions package and plain scipy."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imagecorruptions import corrupt as reference_corrupt
from PIL import Image
from scipy.ndimage import map_coordinates
from skimage.filters import gaussian

from benchc.corruptions import corrupt
from benchc.corruptions.kernels.digital import pixelate
from benchc.corruptions.kernels.elastic import (
    AffineShifts,
    Shifts,
    draw_elastic,
    draw_elastic_affine,
    elastic_transform,
    elastic_transform_affine,
)
from benchc.corruptions.registry import type_of
from benchc.images import ImageError
from benchc.pixels import Pixels
from tests.corruptions.likeness import assert_same_distribution, assert_same_pixels
from tests.corruptions.photos import photo

SEVERITIES = (1, 2, 3, 4, 5)
SHAPES = [(32, 45), (64, 33), (224, 224), (333, 500), (480, 640)]


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(seed))


def unit(integers: np.ndarray) -> np.ndarray:
    """Return the numbers in (-1, 1) that a field's integers represent."""
    return (integers.astype(np.float64) + 0.5) / 32768


@pytest.mark.parametrize("name", ["jpeg_compression", "pixelate"])
@pytest.mark.parametrize("shape", SHAPES)
def test_jpeg_and_pixelate_match_imagecorruptions(shape: tuple[int, int], name: str) -> None:
    image = photo("motorcycle", *shape)
    for severity in SEVERITIES:
        expected = reference_corrupt(image, severity, name)
        np.testing.assert_array_equal(corrupt(image, name, severity, seed=0), expected)


def test_jpeg_names_its_limit_and_the_size() -> None:
    message = r"JPEG allows at most 65,500 pixels a side, .* 65,501 × 32: scale it"
    with pytest.raises(ImageError, match=message):
        corrupt(np.zeros((2, 65_501, 3), np.uint8), "jpeg_compression", 1, seed=0)


@pytest.mark.parametrize("enlarge", ["nearest", "box"])
@given(st.integers(32, 150), st.integers(32, 150), st.sampled_from(SEVERITIES), st.integers(0, 2**32))
@settings(max_examples=50)
def test_pixelate_is_two_calls_of_pillow(
    enlarge: str, height: int, width: int, severity: int, seed: int
) -> None:
    scale = type_of("pixelate").at(severity)["scale"]
    image = generator(seed).integers(0, 256, (height, width, 3), np.uint8)
    small = Image.fromarray(image).resize((int(width * scale), int(height * scale)), Image.Resampling.BOX)
    expected = small.resize((width, height), Image.Resampling[enlarge.upper()])
    np.testing.assert_array_equal(pixelate(image, scale=scale, enlarge=enlarge), np.array(expected))


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_elastic_on_the_same_field(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int], severity: int
) -> None:
    image = photo("motorcycle", *shape)
    field = draw_elastic(generator(severity), *shape)
    planes = iter(field)
    monkeypatch.setattr(np.random, "uniform", lambda low, high, size: high * unit(next(planes)))
    expected = reference_corrupt(image, severity, "elastic_transform")
    assert_same_pixels(elastic_transform(image, field, **type_of("elastic_transform").at(severity)), expected)


def test_elastic_has_the_distribution_of_imagecorruptions() -> None:
    def of_reference(seed: int) -> Pixels:
        np.random.seed(seed)  # noqa: NPY002
        return reference_corrupt(image, 4, "elastic_transform")

    # Of low contrast, since the mean change is near zero and must be known to 0.03 levels.
    image = photo("motorcycle", 96, 128) // 4
    assert_same_distribution(
        lambda seed: corrupt(image, "elastic_transform", 4, seed=seed), of_reference, image, draws=500
    )


def test_elastic_reaches_far_beyond_the_edges() -> None:
    image = generator(0).integers(0, 256, (40, 70, 3), np.uint8)
    # 30,000 of 32,768 times 0.1 * 40 * 80 is 293 pixels, several widths away.
    field = Shifts(*np.full((2, 40, 70), 30_000, np.int16))
    shift = 320 * 30_000.5 / 32768
    found = elastic_transform(image, field, alpha=80.0, sigma=0.01, max_shift=0.1)
    assert_same_pixels(found, moved(image, shift, shift))


def affine_by_scipy(image: Pixels, field: AffineShifts, alpha: float, sigma: float, affine: float) -> Pixels:
    """ImageNet-C's elastic transform, read from its definition: double precision, no packing, no margins."""
    height, width, _ = image.shape
    arm = min(height, width) // 3
    corners = np.array([(1, 1), (1, -1), (-1, -1)]) * arm + [width // 2, height // 2]
    matrix = cv2.getAffineTransform(np.float32(corners), np.float32(corners + field.points * affine))
    border = {"flags": cv2.INTER_LINEAR, "borderMode": cv2.BORDER_REFLECT_101}
    mapped = cv2.warpAffine(np.float32(image), matrix, (width, height), **border)
    right, down = (alpha * gaussian(unit(plane), sigma, mode="reflect", truncate=3) for plane in field.shifts)
    return moved(mapped, down, right)


def moved(image: np.ndarray, down: np.ndarray | float, right: np.ndarray | float) -> Pixels:
    """Return the pixels at these distances, interpolated by scipy; edges are mirrors."""
    y, x = np.mgrid[: image.shape[0], : image.shape[1]]
    planes = np.moveaxis(image.astype(float), 2, 0)
    found = [map_coordinates(plane, [y + down, x + right], order=1, mode="reflect") for plane in planes]
    return np.clip(np.stack(found, axis=-1), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("shape", [(32, 45), (224, 224), (200, 301)])
def test_elastic_affine_is_its_definition(shape: tuple[int, int], severity: int) -> None:
    image = photo("motorcycle", *shape)
    keywords = type_of("elastic_transform_affine").at(severity)
    field = draw_elastic_affine(generator(severity), *shape)
    ours = elastic_transform_affine(image, field, **keywords)
    assert_same_pixels(ours, affine_by_scipy(image, field, **keywords))


def test_the_numbers_of_elastic_fields_are_uniform() -> None:
    points, shifts = draw_elastic_affine(generator(0), 300, 300)
    assert points.shape == (3, 2)
    assert np.abs(points).max() <= 1
    for plane in shifts:
        histogram, _ = np.histogram(unit(plane), bins=16, range=(-1, 1))
        np.testing.assert_allclose(histogram, plane.size / 16, rtol=0.08)
    assert abs(np.corrcoef(*(plane.ravel() for plane in shifts))[0, 1]) < 0.02
