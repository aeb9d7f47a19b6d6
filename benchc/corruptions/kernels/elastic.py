"""Elastic transforms, imagecorruptions' and ImageNet-C's own: a smoothed random field moves the pixels."""

from typing import Any, NamedTuple

import cv2
import numpy as np
import numpy.typing as npt
from numba import njit

from benchc.corruptions.convolution import border_indices, gaussian_kernel, separable
from benchc.corruptions.fields import draw_bits16
from benchc.pixels import Pixels

Floats32 = npt.NDArray[np.float32]
Integers16 = npt.NDArray[np.int16]

# The half of the field's range, in its own units: v stands for (v + 0.5) / HALF in (-1, 1).
HALF = 32_768
# A pixel's three levels are 21 bits apart in a word, so one multiplication weights all of them; weights of
# 13 bits that sum to WHOLE do not overflow.
LANE = 21
WEIGHT_BITS = 13
WHOLE = 1 << WEIGHT_BITS
# This many packed rows and the margins fit into the second-level cache at 1920 pixels a row.
BLOCK = 32


class Shifts(NamedTuple):
    """Uniform numbers, int16[H, W] each: v stands for (v + 0.5) / 32,768 in (-1, 1)."""

    right: Integers16
    down: Integers16


class AffineShifts(NamedTuple):
    """Uniform jitter of three points (x, y) in (-1, 1), float64[3, 2], and of the pixels."""

    points: npt.NDArray[np.float64]
    shifts: Shifts


def draw_elastic(generator: np.random.Generator, height: int, width: int, **_: Any) -> Shifts:
    """Return the displacements of every pixel before they are smoothed and scaled."""
    right, down = draw_bits16(generator, 2, height, width).view(np.int16)
    return Shifts(right, down)


def draw_elastic_affine(generator: np.random.Generator, height: int, width: int, **_: Any) -> AffineShifts:
    """Return the jitter of the affine map's points and of the pixels, before it is smoothed and scaled."""
    points = generator.uniform(-1, 1, (3, 2))
    return AffineShifts(points, draw_elastic(generator, height, width))


def elastic_transform(
    image: Pixels, field: Shifts, *, alpha: float, sigma: float, max_shift: float
) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) under a smoothed random displacement in proportion to its size.

    imagecorruptions (Michaelis et al., 2019): uniform displacements of up to ``max_shift`` times the height,
    along both axes, are smoothed by a Gaussian of ``sigma`` times each side, cut at three sigmas, and then
    multiplied by ``alpha``. ``field`` is from :func:`draw_elastic`, for the same shape.
    """
    height, width, _ = image.shape
    kernels = gaussian_kernel(sigma * height, 3), gaussian_kernel(sigma * width, 3)
    return _displace(image, field, kernels, max_shift * height * alpha)


def elastic_transform_affine(
    image: Pixels, field: AffineShifts, *, alpha: float, sigma: float, affine: float
) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) under a random affine map and a smoothed random displacement.

    ImageNet-C's own (Hendrycks and Dietterich, 2019): three points around the middle, a third of the shorter
    side away from it along both axes, move by up to ``affine`` pixels; uniform displacements in (-1, 1) are
    smoothed by a Gaussian of ``sigma`` pixels, cut at three sigmas, and multiplied by ``alpha``. ``field`` is
    from :func:`draw_elastic_affine`, for the same shape.
    """
    height, width, _ = image.shape
    middle = np.array([width // 2, height // 2])
    arm = min(height, width) // 3
    points = (middle + np.array([[arm, arm], [arm, -arm], [-arm, -arm]])).astype(np.float32)
    moved = (points + affine * field.points).astype(np.float32)
    matrix = cv2.getAffineTransform(points, moved)
    # The published code maps floats; using integers changes its truncated result by at most one level.
    mapped = cv2.warpAffine(image, matrix, (width, height), borderMode=cv2.BORDER_REFLECT_101)
    kernel = gaussian_kernel(sigma, 3)
    return _displace(np.asarray(mapped), field.shifts, (kernel, kernel), alpha)


def _displace(image: Pixels, shifts: Shifts, kernels: tuple[Floats32, Floats32], reach: float) -> Pixels:
    """Return the image displaced by the shifts, smoothed and multiplied by ``reach``, its edges mirrored."""
    height, width, _ = image.shape
    planes = [separable(plane.astype(np.float32), *kernels, "reflect") for plane in shifts]
    scale = reach / HALF
    margin = int(max(max(plane.max(), -plane.min()) for plane in planes) * scale) + 2
    rows, columns = border_indices(height, margin, "reflect"), border_indices(width, margin, "reflect")
    result = np.empty_like(image)
    _interpolate(image, rows, columns, planes[0], planes[1], np.float32(scale), np.float32(scale / 2), result)
    return result


@njit(cache=True, nogil=True)
def _interpolate(image, rows, columns, right, down, scale, offset, result):  # type: ignore[no-untyped-def]
    """Sample the image at every pixel's place plus ``scale`` times its shift plus ``offset``, linearly.

    ``rows`` and ``columns`` are the indices of the pixels after adding margins larger than any shift.
    """
    height, width, _ = image.shape
    margin = (columns.size - width) // 2
    stride = np.int32(columns.size)
    packed = np.empty((min(BLOCK, height) + 2 * margin, columns.size), np.uint64)
    words = packed.reshape(-1)
    steps = np.empty(width, np.int32)
    weights = np.empty((4, width), np.uint32)
    whole, one = np.float32(WHOLE), np.uint64(1)
    next_row = np.uint64(columns.size)
    low, red = np.uint64(255), np.uint64(WEIGHT_BITS)
    green, blue = np.uint64(WEIGHT_BITS + LANE), np.uint64(WEIGHT_BITS + 2 * LANE)
    for first in range(0, height, BLOCK):
        last = min(first + BLOCK, height)
        _pack(image, rows[first : last + 2 * margin], columns, packed)
        for y in range(first, last):
            rightward, downward, target = right[y], down[y], result[y].reshape(-1)
            for x in range(width):
                by_x = rightward[x] * scale + offset
                by_y = downward[x] * scale + offset
                floor_x, floor_y = np.floor(by_x), np.floor(by_y)
                share_x, share_y = by_x - floor_x, by_y - floor_y
                # With all three rounded down, no weight is negative.
                a = np.int32(share_x * whole)
                b = np.int32(share_y * whole)
                ab = np.int32(share_x * share_y * whole)
                steps[x] = np.int32(floor_y) * stride + np.int32(floor_x)
                weights[0, x] = WHOLE - a - b + ab
                weights[1, x] = a - ab
                weights[2, x] = b - ab
                weights[3, x] = ab
            start = (y - first + margin) * columns.size + margin
            for x in range(width):
                at = np.uint64(start + x + steps[x])
                total = np.uint64(weights[0, x]) * words[at]
                total += np.uint64(weights[1, x]) * words[at + one]
                total += np.uint64(weights[2, x]) * words[at + next_row]
                total += np.uint64(weights[3, x]) * words[at + next_row + one]
                target[3 * x] = (total >> red) & low
                target[3 * x + 1] = (total >> green) & low
                target[3 * x + 2] = total >> blue


@njit(cache=True, nogil=True)
def _pack(image, rows, columns, packed):  # type: ignore[no-untyped-def]
    """Pack some rows of the image and its margins into words of three levels."""
    width = image.shape[1]
    margin = (columns.size - width) // 2
    for y in range(rows.size):
        source, row = image[rows[y]].reshape(-1), packed[y]
        middle = row[margin : margin + width]
        for x in range(width):
            red, green, blue = source[3 * x], source[3 * x + 1], source[3 * x + 2]
            middle[x] = (
                np.uint64(red) | np.uint64(green) << np.uint64(LANE) | np.uint64(blue) << np.uint64(2 * LANE)
            )
        for x in range(margin):
            row[x] = middle[columns[x]]
            row[margin + width + x] = middle[columns[margin + width + x]]
