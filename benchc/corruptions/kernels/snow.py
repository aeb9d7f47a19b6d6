"""Snow of ImageNet-C: a whitened image with flakes that are blurred along their fall."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from benchc.corruptions.fields import draw_normal_field
from benchc.corruptions.smear import line_taps, smear
from benchc.pixels import Pixels

Floats32 = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]


class Flakes(NamedTuple):
    """Standard normal numbers, float32[ceil(H / zoom), ceil(W / zoom)], and the fall's angle in degrees."""

    normal: Floats32
    angle: float


def draw_snow(generator: np.random.Generator, height: int, width: int, *, zoom: float, **_: Any) -> Flakes:
    """Return the flakes before upscaling by ``zoom``, and an angle between -135 and -45 degrees."""
    angle = float(generator.uniform(-135, -45))
    return Flakes(draw_normal_field(generator, math.ceil(height / zoom), math.ceil(width / zoom)), angle)


def snow(
    image: Pixels,
    field: Flakes,
    *,
    mean: float,
    std: float,
    zoom: float,
    threshold: float,
    radius: int,
    sigma: float,
    mix: float,
) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) whitened, plus flakes, plus the flakes rotated by 180 degrees.

    Hendrycks and Dietterich (2019), with the smear of imagecorruptions.

    Args:
        image: RGB, both sides at least 32.
        field: from :func:`draw_snow`, for the same shape and zoom.
        mean, std: of the normal numbers that become flakes; 1 is white.
        zoom: factor of the linear upscaling of the numbers.
        threshold: lower numbers become 0.
        radius, sigma: of the smear along the fall, in pixels, as in :func:`line_taps`.
        mix: weight of the image; that of its whitened copy is 1 - mix.
    """
    small = field.normal * np.float32(std) + np.float32(mean)
    flakes = _enlarge(small, *_nodes(small.shape[0], zoom), *_nodes(small.shape[1], zoom), threshold)
    fallen = smear(flakes, line_taps(radius, sigma, field.angle, *flakes.shape))
    result = np.empty_like(image)
    _cover(image, fallen, np.float32(mix), result)
    return result


def _nodes(length: int, zoom: float) -> tuple[Indices, Floats32]:
    """Return, for every pixel of an upscaled side, the source pixel before it, its weight and the next one's.

    The first and the last pixel stay first and last. Where rounding puts the last one outside, both weights
    are 0, as in scipy.ndimage.zoom.
    """
    count = round(length * zoom)
    places = np.arange(count) * ((length - 1) / (count - 1))
    before = np.minimum(places.astype(np.int64), length - 2)
    share = places - before
    weights = np.stack([1 - share, share]) * (places <= length - 1)
    return before, weights.astype(np.float32)


@njit(cache=True, nogil=True)
def _enlarge(small, above, of_rows, before, of_columns, threshold):  # type: ignore[no-untyped-def]
    """Return the plane upscaled, with values below the threshold set to 0 and those above 1 to 1."""
    wide = np.empty((small.shape[0], before.size), np.float32)
    for y in range(small.shape[0]):
        for x in range(before.size):
            left = before[x]
            wide[y, x] = small[y, left] * of_columns[0, x] + small[y, left + 1] * of_columns[1, x]
    result = np.empty((above.size, before.size), np.float32)
    least, most, nothing = np.float32(threshold), np.float32(1), np.float32(0)
    for y in range(above.size):
        a, b = of_rows[0, y], of_rows[1, y]
        upper, lower, row = wide[above[y]], wide[above[y] + 1], result[y]
        for x in range(row.size):
            value = upper[x] * a + lower[x] * b
            row[x] = min(value, most) if value >= least else nothing
    return result


@njit(cache=True, nogil=True)
def _cover(image, flakes, mix, result):  # type: ignore[no-untyped-def]
    height, width, _ = image.shape
    white = np.float32(255)
    rest = np.float32(1) - mix
    lifted = np.empty(3 * width, np.float32)
    fallen = np.empty(3 * width, np.float32)
    for y in range(height):
        source, target = image[y].reshape(-1), result[y].reshape(-1)
        here, turned = flakes[y, :width], flakes[height - 1 - y, :width][::-1]
        for x in range(width):
            red, green, blue = source[3 * x], source[3 * x + 1], source[3 * x + 2]
            grey = np.float32(0.299) * np.float32(red)
            grey += np.float32(0.587) * np.float32(green)
            grey += np.float32(0.114) * np.float32(blue)
            level = grey * np.float32(1.5) + np.float32(127.5)
            lifted[3 * x] = lifted[3 * x + 1] = lifted[3 * x + 2] = level
            # The published code rounds the flakes to integer levels.
            depth = np.rint(here[x] * white) + np.rint(turned[x] * white)
            fallen[3 * x] = fallen[3 * x + 1] = fallen[3 * x + 2] = depth
        for i in range(3 * width):
            level = np.float32(source[i])
            level = mix * level + rest * max(level, lifted[i]) + fallen[i]
            target[i] = np.int32(min(level, white))
