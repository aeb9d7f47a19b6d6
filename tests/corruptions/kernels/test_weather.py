"""Fog, frost, snow and spatter agree with imagecorruptions, on the same random fields and in distribution."""

from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest
from imagecorruptions import corrupt as reference_corrupt
from numpy.random import SFC64, Generator

from benchc.corruptions import corrupt
from benchc.corruptions.kernels.fog import draw_plasma, fog
from benchc.corruptions.kernels.frost import TEXTURES, CutOut, draw_frost, frost
from benchc.corruptions.kernels.snow import Flakes, draw_snow, snow
from benchc.corruptions.kernels.spatter import draw_spatter, spatter
from benchc.corruptions.registry import type_of
from benchc.pixels import Pixels
from tests.corruptions.likeness import assert_same_distribution, assert_same_pixels
from tests.corruptions.photos import PHOTOS, photo

SEVERITIES = (1, 2, 3, 4, 5)
# Larger than a texture of frost in no side, in one, in the other, in both.
SHAPES = [(32, 45), (120, 97), (333, 500), (300, 700), (540, 301)]


def generator(seed: int) -> Generator:
    return Generator(SFC64(seed))


def uniforms_of(bits: np.ndarray) -> Callable[..., np.ndarray]:
    """Return a plasma's numbers in the order of the calls, like numpy.random.uniform."""
    position = 0

    def uniform(low: float, high: float, shape: tuple[int, ...]) -> np.ndarray:
        nonlocal position
        count = int(np.prod(shape))
        drawn = bits[position : position + count].reshape(shape)
        position += count
        return low + (high - low) * ((drawn + 0.5) / 65536)

    return uniform


def normals_of(normal: np.ndarray) -> Callable[..., np.ndarray]:
    """Replace numpy.random.normal by the given numbers, in the middle of the requested shape."""

    def numbers(size: tuple[int, int], loc: float, scale: float) -> np.ndarray:
        top, left = ((whole - part) // 2 for whole, part in zip(size, normal.shape, strict=True))
        result = np.full(size, np.nan)
        result[top : top + normal.shape[0], left : left + normal.shape[1]] = loc + scale * normal
        return result

    return numbers


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_fog_on_the_same_field(shape: tuple[int, int], severity: int) -> None:
    image = photo(PHOTOS[severity], *shape)
    field = draw_plasma(generator(severity), *shape)
    with patch.multiple(np.random, uniform=uniforms_of(field)):
        expected = reference_corrupt(image, severity, "fog")
    assert_same_pixels(fog(image, field, **type_of("fog").at(severity)), expected)


@pytest.mark.parametrize("level", [0, 1, 255])
def test_fog_never_passes_the_brightest_value(level: int) -> None:
    image = np.full((40, 50, 3), level, np.uint8)
    assert corrupt(image, "fog", 3, seed=1).max() <= level


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("field", [CutOut(severity - 1, severity / 6, 0.99) for severity in (1, 2, 4, 5, 6)])
def test_frost_on_the_same_field(shape: tuple[int, int], severity: int, field: CutOut) -> None:
    image = photo(PHOTOS[severity], *shape)
    shares = iter([field.down, field.right])

    def randint(low: int, high: int | None = None) -> int:
        return field.texture if high is None else int(next(shares) * high)

    with patch.multiple(np.random, randint=randint):
        expected = reference_corrupt(image, severity, "frost")
    np.testing.assert_array_equal(frost(image, field, **type_of("frost").at(severity)), expected)


def test_frost_draws_the_first_five_textures_and_its_variant_all_six() -> None:
    for name, count in (("frost", 5), ("frost_six", 6)):
        keywords = type_of(name).at(1)
        drawn = {draw_frost(generator(seed), 32, 32, **keywords).texture for seed in range(100)}
        assert drawn == set(range(count))
    assert len(TEXTURES) == 6


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_snow_on_the_same_field(shape: tuple[int, int], severity: int) -> None:
    image = photo(PHOTOS[severity], *shape)
    keywords = type_of("snow").at(severity)
    field = draw_snow(generator(severity), *shape, **keywords)
    with patch.multiple(np.random, normal=normals_of(field.normal), uniform=lambda low, high: field.angle):
        expected = reference_corrupt(image, severity, "snow")
    assert_same_pixels(snow(image, field, **keywords), expected)


@pytest.mark.parametrize("angle", [-135.0, -112.5, -90.0, -60.0, -45.0])
def test_snow_falls_at_the_angle_of_the_field(angle: float) -> None:
    image = photo("pagoda", 64, 80)
    keywords = type_of("snow").at(2)
    field = Flakes(draw_snow(generator(0), 64, 80, **keywords).normal, angle)
    with patch.multiple(np.random, normal=normals_of(field.normal), uniform=lambda low, high: angle):
        expected = reference_corrupt(image, 2, "snow")
    assert_same_pixels(snow(image, field, **keywords), expected)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("shape", [(64, 45), *SHAPES[1:]])
def test_spatter_on_the_same_field(shape: tuple[int, int], severity: int) -> None:
    image = photo(PHOTOS[severity], *shape)
    field = draw_spatter(generator(severity), *shape)
    with patch.multiple(np.random, normal=normals_of(field)):
        expected = reference_corrupt(image, severity, "spatter")
    assert_same_pixels(spatter(image, field, **type_of("spatter").at(severity)), expected)


def test_spatter_without_a_drop_leaves_the_image_as_it_is_and_mud_that_covers_it_has_one_colour() -> None:
    image = generator(0).integers(0, 256, (40, 50, 3), np.uint8)
    dry = np.full((40, 50), -1, np.float32)
    for severity in SEVERITIES:
        np.testing.assert_array_equal(spatter(image, dry, **type_of("spatter").at(severity)), image)
    wet = np.ones((40, 50), np.float32)
    result = spatter(image, wet, **type_of("spatter").at(5))
    assert np.unique(result.reshape(-1, 3), axis=0).tolist() == [[63, 42, 20]]


# Fields are drawn alike at all severities but for those of snow in size. Photos are dark or bright, so that
# the mean changes.
@pytest.mark.parametrize(
    ("name", "severity", "name_of_photo", "draws"),
    [
        ("fog", 5, "rocket", 800),
        ("frost_six", 2, "pagoda", 400),
        ("snow", 4, "rocket", 400),
        ("spatter", 5, "pagoda", 400),
    ],
)
def test_weather_has_the_distribution_of_imagecorruptions(
    name: str, severity: int, name_of_photo: str, draws: int
) -> None:
    def of_reference(seed: int) -> Pixels:
        np.random.seed(seed)  # noqa: NPY002
        return reference_corrupt(image, severity, name.removesuffix("_six"))

    def ours(seed: int) -> Pixels:
        return corrupt(image, name, severity, seed=seed)

    image = photo(name_of_photo, 96, 128)
    assert_same_distribution(ours, of_reference, image, draws=draws)
