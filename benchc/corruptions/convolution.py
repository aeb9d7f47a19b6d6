"""Symmetric separable convolutions, exact to float32, of planes and of images.

Rows are summed tap by tap in a fixed order, so the result does not depend on the machine. A row of an image
is its interleaved RGB values: a shift by one pixel is a shift by three values.
"""

import math
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from numba import njit

from benchc.pixels import Pixels

Array = npt.NDArray[Any]
Floats32 = npt.NDArray[np.float32]
Floats64 = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
# As in scipy.ndimage: the edge repeated; mirrored including the edge; mirrored without the edge.
Border = Literal["nearest", "reflect", "mirror"]

# Values are truncated, not rounded, to integer levels, as in the published code. The bias keeps float32's
# errors, below 2e-4 levels, from lowering a flat area by one level.
TRUNCATION_BIAS = np.float32(2**-10)
KEEP_LEVELS = np.full(256, TRUNCATION_BIAS)
BLOCK = 32  # values of a row that are truncated together


def gaussian_kernel(sigma: float, truncate: float = 4.0) -> Floats32:
    """Return a Gaussian of ``sigma`` pixels as float32[2r + 1] of sum 1, r = ``int(truncate * sigma + 0.5)``.

    The weights of scipy.ndimage and scikit-image. Raises ValueError where ``sigma`` is not positive.
    """
    return _gaussian_weights(sigma, truncate).astype(np.float32)


def flat_bias(flat: Floats64) -> Floats32:
    """Return what to add to a value near each level before truncation, float32[256].

    ``flat`` (float64[256]) is the published code's result for a flat area of each level, before truncation.
    Where rounding errors put it below the level, truncation lowers it by one; the bias reproduces that.
    """
    return np.where(flat < np.arange(256), -TRUNCATION_BIAS, TRUNCATION_BIAS).astype(np.float32)


@lru_cache(maxsize=64)
def gaussian_bias(sigma: float, truncate: float = 4.0) -> Floats32:
    """Return the :func:`flat_bias` of scipy.ndimage.gaussian_filter on an image from 0 to 1, float32[256].

    Uses scipy's sums in float64, with weights that do not depend on the processor.
    """
    weights = _gaussian_weights(sigma, truncate)
    middle = weights.size // 2
    value = np.arange(256) / 255
    for _axis in range(2):
        pair = value + value
        value = value * weights[middle]
        for weight in weights[:middle]:
            value += pair * weight
    return flat_bias(value * 255)


def separable(plane: Floats32, kernel_y: Floats32, kernel_x: Floats32, border: Border) -> Floats32:
    """Return ``plane`` (float32[H, W]) filtered by ``kernel_y`` down columns and ``kernel_x`` along rows.

    Both kernels are symmetric, of odd length, and may be longer than the plane. Raises ValueError for others.
    """
    half_y, half_x = _half(kernel_y), _half(kernel_x)
    height, width = plane.shape
    result = np.empty((height, width), np.float32)
    rows = border_indices(height, half_y.size - 1, border)
    columns = border_indices(width, half_x.size - 1, border)
    _filter_plane(np.ascontiguousarray(plane, np.float32), half_y, half_x, rows, columns, result)
    return result


def separable_image(image: Pixels, kernel: Floats32, border: Border, bias: Floats32 = KEEP_LEVELS) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) filtered by ``kernel`` along both axes, truncated to integer levels.

    The kernel is symmetric, of odd length, not negative, and of sum 1; raises ValueError for others. ``bias``
    (float32[256]) is from :func:`flat_bias`.
    """
    half = _half(kernel)
    if half.min() < 0 or abs(float(kernel.sum()) - 1) > 1e-6:
        raise ValueError(f"the kernel must be non-negative with sum 1, not {kernel.tolist()}")
    height, width, channels = image.shape
    result = np.empty((height, width * channels), np.uint8)
    rows = border_indices(height, half.size - 1, border)
    columns = border_indices(width, half.size - 1, border)
    _filter_image(
        np.ascontiguousarray(image).reshape(height, -1), channels, half, rows, columns, bias, result
    )
    return result.reshape(image.shape)


def border_indices(length: int, margin: int, border: Border) -> Indices:
    """Return the index of the pixel, of ``length``, at each position from -margin to length - 1 + margin."""
    positions = np.arange(-margin, length + margin)
    if border == "nearest" or length == 1:
        return np.clip(positions, 0, length - 1)
    if border == "reflect":
        positions %= 2 * length
        return np.minimum(positions, 2 * length - 1 - positions)
    positions %= 2 * length - 2
    return np.minimum(positions, 2 * length - 2 - positions)


def _gaussian_weights(sigma: float, truncate: float) -> Floats64:
    if not sigma > 0:
        raise ValueError(f"sigma must be above 0, not {sigma}")
    radius = int(truncate * sigma + 0.5)
    exponents = -0.5 / (sigma * sigma) * np.arange(-radius, radius + 1) ** 2
    # numpy's exponential rounds differently on processors with AVX-512.
    weights = np.array([math.exp(exponent) for exponent in exponents])
    return np.asarray(weights / weights.sum())


def _half(kernel: Floats32) -> Floats32:
    if kernel.ndim != 1 or kernel.size % 2 == 0 or not np.array_equal(kernel, kernel[::-1]):
        raise ValueError(f"the kernel must be symmetric and of odd length, not {kernel.tolist()}")
    return np.ascontiguousarray(kernel[kernel.size // 2 :], np.float32)


@njit(cache=True, nogil=True)
def _filter_image(
    source: Array, step: int, half: Array, rows: Indices, columns: Indices, bias: Array, result: Array
) -> None:
    height, length = source.shape
    radius = half.size - 1
    margin = radius * step
    row = np.empty(length + 2 * margin, np.float32)
    total = np.empty(length, np.float32)
    for y in range(height):
        _sum_rows(source, rows[y:], half, row[margin : margin + length])
        _fill_margins(row, columns, radius, step)
        _sum_shifts(row, half, step, total)
        _truncate(total, bias, result[y])


@njit(cache=True, nogil=True)
def _truncate(total: Array, bias: Array, result: Array) -> None:
    half, least = np.float32(0.5), TRUNCATION_BIAS
    for start in range(0, total.size, BLOCK):
        values, levels = total[start : start + BLOCK], result[start : start + BLOCK]
        close = np.int32(0)
        for x in range(values.size):
            level = np.int32(values[x] + least)
            levels[x] = np.uint8(level)
            close |= np.int32(values[x] < np.float32(level) + least)
        # Only values this close to a level depend on its bias, and few blocks of a photo have any.
        if close:
            for x in range(values.size):
                levels[x] = np.uint8(values[x] + bias[np.uint8(values[x] + half)])


@njit(cache=True, nogil=True)
def _filter_plane(
    source: Array, half_y: Array, half_x: Array, rows: Indices, columns: Indices, result: Array
) -> None:
    height, length = source.shape
    margin = half_x.size - 1
    row = np.empty(length + 2 * margin, np.float32)
    for y in range(height):
        _sum_rows(source, rows[y:], half_y, row[margin : margin + length])
        _fill_margins(row, columns, margin, 1)
        _sum_shifts(row, half_x, 1, result[y])


@njit(cache=True, nogil=True)
def _sum_rows(source: Array, rows: Indices, half: Array, total: Array) -> None:
    """Sum the rows that begin ``rows``, as many as the whole kernel has weights."""
    radius = half.size - 1
    _start(total, source[rows[radius]], half[0])
    # Two pairs at a time halve the memory traffic.
    for tap in range(1, radius, 2):
        above, below = source[rows[radius - tap]], source[rows[radius + tap]]
        next_above, next_below = source[rows[radius - tap - 1]], source[rows[radius + tap + 1]]
        _add_two_pairs(total, above, below, next_above, next_below, half[tap], half[tap + 1])
    if radius % 2:
        _add_pair(total, source[rows[0]], source[rows[2 * radius]], half[radius])


@njit(cache=True, nogil=True)
def _sum_shifts(row: Array, half: Array, step: int, total: Array) -> None:
    """Sum the shifts of a row to the left and right, weighted; the row has margins on both sides."""
    radius = half.size - 1
    n = total.size
    middle = radius * step
    _start(total, row[middle : middle + n], half[0])
    for tap in range(1, radius, 2):
        a, b = middle - tap * step, middle + tap * step
        c, d = a - step, b + step
        _add_two_pairs(
            total, row[a : a + n], row[b : b + n], row[c : c + n], row[d : d + n], half[tap], half[tap + 1]
        )
    if radius % 2:
        _add_pair(total, row[:n], row[2 * middle : 2 * middle + n], half[radius])


@njit(cache=True, nogil=True)
def _start(total: Array, row: Array, weight: float) -> None:
    for x in range(total.size):
        total[x] = weight * np.float32(row[x])


@njit(cache=True, nogil=True)
def _add_pair(total: Array, a: Array, b: Array, weight: float) -> None:
    for x in range(total.size):
        total[x] += weight * (np.float32(a[x]) + np.float32(b[x]))


@njit(cache=True, nogil=True)
def _add_two_pairs(total: Array, a: Array, b: Array, c: Array, d: Array, near: float, far: float) -> None:
    for x in range(total.size):
        total[x] += near * (np.float32(a[x]) + np.float32(b[x])) + far * (np.float32(c[x]) + np.float32(d[x]))


@njit(cache=True, nogil=True)
def _fill_margins(row: Array, columns: Indices, radius: int, step: int) -> None:
    margin = radius * step
    end = columns.size - radius
    for i in range(radius):
        for channel in range(step):
            row[i * step + channel] = row[margin + columns[i] * step + channel]
            row[(end + i) * step + channel] = row[margin + columns[end + i] * step + channel]
