"""Spatter of ImageNet-C: drops of water or mud on the lens."""

from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from numba import njit

from benchc.corruptions.convolution import TRUNCATION_BIAS, gaussian_kernel, separable
from benchc.corruptions.fields import draw_normal_field
from benchc.pixels import Pixels

Floats32 = npt.NDArray[np.float32]
Plane = npt.NDArray[np.uint8]

PALE_TURQUOISE = (175, 238, 238)
MUD_BROWN = (63, 42, 20)
# Canny's thresholds for the rims of drops.
CANNY = 50, 150
# Limit of the distances from a rim, in pixels.
RIM = 20
# Of a pixel, so that OpenCV's steps of 1, 1.4 (diagonal) and 2.1969 (a knight's move) have integer lengths.
UNITS = 10_000
# Values of a smoothed mask from which there is mud.
MUD_FROM = 0.8
EMBOSS = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]])


def draw_spatter(generator: np.random.Generator, height: int, width: int, **_: Any) -> Floats32:
    """Return standard normal numbers, float32[H, W]; drops are where their smoothed values are large."""
    return draw_normal_field(generator, height, width)


def spatter(
    image: Pixels,
    field: Floats32,
    *,
    mean: float,
    std: float,
    sigma: float,
    threshold: float,
    intensity: float,
    mud: bool,
) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with drops of water, which lighten, or of mud, which cover.

    Hendrycks and Dietterich (2019), as imagecorruptions does it for any size. Without any drop, where
    the published code divides zero by zero, the image stays unchanged.

    Args:
        image: RGB, both sides at least 32.
        field: from :func:`draw_spatter`, for the same shape.
        mean, std: of the normal numbers that become liquid.
        sigma: of the Gaussian that smooths them into drops, in pixels.
        threshold: lower values become 0.
        intensity: of the brightest water; for mud, the sigma of the Gaussian that smooths its edges, in
            pixels.
        mud: whether the drops are of mud.
    """
    result = np.empty_like(image)
    liquid = _smooth(field, sigma)
    # A Gaussian keeps mean and scale, so the threshold can be changed instead.
    if mud:
        mask = np.greater(liquid, np.float32((threshold - mean) / std), out=liquid)
        _cover(image, _smooth(mask, intensity), np.array(MUD_BROWN, np.float32), TRUNCATION_BIAS, result)
        return result
    depth = np.empty(liquid.shape, np.uint8)
    _levels(liquid, mean, std, threshold, depth)
    glare = _emboss(depth)
    brightest = _largest_product(depth, glare)
    if brightest == 0:
        return image.copy()
    colour = np.array(PALE_TURQUOISE, np.float32) * np.float32(intensity / brightest)
    _lighten(image, depth, glare, colour, result)
    return result


def _smooth(plane: Floats32, sigma: float) -> Floats32:
    kernel = gaussian_kernel(sigma)
    return separable(plane, kernel, kernel, "nearest")


def _emboss(depth: Plane) -> Plane:
    """Return the brightness of drops: equalised distances from their rims, lit from one corner."""
    equalised = cv2.equalizeHist(mean_distances(cv2.Canny(depth, *CANNY)))
    return np.asarray(cv2.blur(cv2.filter2D(equalised, cv2.CV_8U, EMBOSS), (3, 3)))


def mean_distances(rims: Plane) -> Plane:
    """Return each pixel's distance from the nearest rim, at most 20, averaged over 3 x 3, truncated.

    ``rims`` is uint8[H, W], 255 on a rim, else 0; the result is uint8[H, W]. Borgefors (1986), mask of 5 x 5.
    """
    distances = np.minimum(cv2.distanceTransform(~rims, cv2.DIST_L2, 5), np.float32(RIM))
    # OpenCV's own distances are up to 0.86 units too small, and those by Intel's library up to 0.05 off.
    units = np.floor(distances * np.float32(UNITS) + np.float32(0.9))
    # These sums are exact, so that all processors truncate a mean alike.
    sums = cv2.boxFilter(units, cv2.CV_32F, (3, 3), normalize=False)
    return np.asarray((sums / np.float32(9 * UNITS)).astype(np.uint8))


@njit(cache=True, nogil=True)
def _levels(liquid, mean, std, threshold, result):  # type: ignore[no-untyped-def]
    offset, scale, least = np.float32(mean), np.float32(std), np.float32(threshold)
    white, nothing = np.float32(255), np.float32(0)
    source, target = liquid.reshape(-1), result.reshape(-1)
    for i in range(source.size):
        value = source[i] * scale + offset
        target[i] = np.int32(value * white if value >= least else nothing)


@njit(cache=True, nogil=True)
def _largest_product(a, b):  # type: ignore[no-untyped-def]
    largest = np.int32(0)
    first, second = a.reshape(-1), b.reshape(-1)
    for i in range(first.size):
        largest = max(largest, np.int32(first[i]) * np.int32(second[i]))
    return largest


@njit(cache=True, nogil=True)
def _lighten(image, depth, glare, colour, result):  # type: ignore[no-untyped-def]
    height, width, _ = image.shape
    light = np.empty(3 * width, np.float32)
    red, green, blue = colour
    white = np.float32(255)
    for y in range(height):
        for x in range(width):
            level = np.float32(np.int32(depth[y, x]) * np.int32(glare[y, x]))
            light[3 * x] = level * red
            light[3 * x + 1] = level * green
            light[3 * x + 2] = level * blue
        source, target = image[y].reshape(-1), result[y].reshape(-1)
        for i in range(3 * width):
            target[i] = np.int32(min(np.float32(source[i]) + light[i], white))


@njit(cache=True, nogil=True)
def _cover(image, cover, colour, bias, result):  # type: ignore[no-untyped-def]
    height, width, _ = image.shape
    clear = np.empty(3 * width, np.float32)
    brown = np.empty(3 * width, np.float32)
    red, green, blue = colour
    least, nothing = np.float32(MUD_FROM), np.float32(0)
    for y in range(height):
        for x in range(width):
            share = cover[y, x] if cover[y, x] >= least else nothing
            rest = np.float32(1) - share
            clear[3 * x] = clear[3 * x + 1] = clear[3 * x + 2] = rest
            brown[3 * x] = share * red
            brown[3 * x + 1] = share * green
            brown[3 * x + 2] = share * blue
        source, target = image[y].reshape(-1), result[y].reshape(-1)
        for i in range(3 * width):
            target[i] = np.int32(np.float32(source[i]) * clear[i] + brown[i] + bias)
