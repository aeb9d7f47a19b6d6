"""Defocus blur of ImageNet-C: a convolution with a smoothed disk, with a radius in pixels.

The disk's columns are nearly constant. So each is a sum of a few weights times running sums down the image's
columns, which all columns of the disk share.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from benchc.corruptions.convolution import border_indices
from benchc.pixels import Pixels

Array = npt.NDArray[Any]
Floats32 = npt.NDArray[np.float32]
Floats64 = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

# Values are truncated. This exceeds float32's errors, below 3e-4 levels, in flat areas.
TRUNCATION_BIAS = 2**-10


class _Disk(NamedTuple):
    """A kernel, column by column from its middle to its edge: weights of sums over 2 * reach + 1 rows."""

    radius: int  # of the kernel, in pixels
    counts: Indices  # [radius + 1], the sums that a column uses; even
    reaches: Indices  # [radius + 1, most sums]
    weights: Floats32  # [radius + 1, most sums]
    bias: np.float32


def defocus_blur(image: Pixels, *, radius: int, alias_blur: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) convolved with a disk, with mirrored edges, truncated.

    Args:
        radius: of the disk, in pixels.
        alias_blur: sigma, in pixels, of the Gaussian that smooths the disk (Hendrycks and Dietterich, 2019).
    """
    height, width, channels = image.shape
    disk = _decompose(radius, alias_blur)
    margins = ((0, 0), (disk.radius, disk.radius), (0, 0))
    padded = np.pad(image, margins, mode="reflect").reshape(height, -1)
    rows = border_indices(height, disk.radius, "mirror")
    result = np.empty((height, width * channels), np.uint8)
    _convolve(padded, rows, channels, disk.counts, disk.reaches, disk.weights, disk.bias, result)
    return result.reshape(image.shape)


def disk_kernel(radius: int, alias_blur: float) -> Floats64:
    """Return the smoothed disk as float64[n, n], n = 17 up to a radius of 8 pixels and 2 * radius + 1 above.

    The smoothing, over 3 by 3 or 5 by 5 pixels, mirrors the disk at the edge of the n by n pixels,
    which cut it off at radii of 8 and 10; so its sum exceeds 1 and the image gets slightly brighter.
    """
    reach, smooth = (8, 1) if radius <= 8 else (radius, 2)
    positions = np.arange(-reach, reach + 1)
    disk = (positions[:, None] ** 2 + positions**2 <= radius**2).astype(np.float64)
    disk /= disk.sum()
    weights = np.exp(-(np.arange(-smooth, smooth + 1) ** 2) / (2 * alias_blur**2))
    weights /= weights.sum()
    indices = border_indices(disk.shape[0], smooth, "mirror")
    for _ in range(2):
        extended = disk[indices]
        disk = sum(weight * extended[i : i + disk.shape[0]] for i, weight in enumerate(weights)).T
    return disk


@cache
def _decompose(radius: int, alias_blur: float) -> _Disk:
    kernel = disk_kernel(radius, alias_blur)
    middle = kernel.shape[0] // 2
    quarter = kernel[middle:, middle:]
    # [column, reach]: column j is the sum over reaches of these steps times the rows up to the reach.
    steps = -np.diff(quarter, axis=0, append=0).T
    used = [np.flatnonzero(np.abs(column) > 1e-12 * kernel.max()) for column in steps]
    used = used[: 1 + max(j for j, reaches in enumerate(used) if reaches.size)]
    counts = np.array([(reaches.size + 1) // 2 * 2 for reaches in used])
    reaches, weights = np.zeros((len(used), counts.max()), np.int64), np.zeros((len(used), counts.max()))
    for j, column in enumerate(used):
        reaches[j, : column.size] = column
        weights[j, : column.size] = steps[j, column]
    # The published code's kernel is float32. Where its sum is below 1, it lowers flat areas by a level.
    total = float(kernel.astype(np.float32).sum(dtype=np.float64))
    bias = np.float32(TRUNCATION_BIAS if total >= 1 else -TRUNCATION_BIAS)
    return _Disk(len(used) - 1, counts, reaches, weights.astype(np.float32), bias)


@njit(cache=True, nogil=True)
def _convolve(
    source: Array,
    rows: Array,
    step: int,
    counts: Array,
    reaches: Array,
    weights: Array,
    bias: np.float32,
    result: Array,
) -> None:
    height, length = result.shape
    radius = counts.size - 1
    padded = source.shape[1]
    sums = np.empty((radius + 1, padded), np.float32)
    column = np.empty(padded, np.float32)
    total = np.empty(length, np.float32)
    for y in range(height):
        _sum_rows(source, rows[y : y + 2 * radius + 1], sums)
        total[:] = bias
        for j in range(radius + 1):
            _combine(sums, reaches[j, : counts[j]], weights[j], column)
            left, right = (radius - j) * step, (radius + j) * step
            if j:
                _add_both(total, column[left : left + length], column[right : right + length])
            else:
                _add(total, column[left : left + length])
        _truncate(total, result[y])


@njit(cache=True, nogil=True)
def _sum_rows(source: Array, rows: Array, sums: Array) -> None:
    """Set sums[reach] to the sum of the rows up to ``reach`` away from the middle one of ``rows``."""
    radius = sums.shape[0] - 1
    _set(sums[0], source[rows[radius]])
    for reach in range(1, radius + 1):
        above, below = source[rows[radius - reach]], source[rows[radius + reach]]
        _set_sum(sums[reach], sums[reach - 1], above, below)


@njit(cache=True, nogil=True)
def _combine(sums: Array, reaches: Array, weights: Array, column: Array) -> None:
    first, second = sums[reaches[0]], sums[reaches[1]]
    _set_two(column, first, second, weights[0], weights[1])
    for i in range(2, reaches.size, 2):
        _add_two(column, sums[reaches[i]], sums[reaches[i + 1]], weights[i], weights[i + 1])


@njit(cache=True, nogil=True)
def _set(target: Array, row: Array) -> None:
    for x in range(target.size):
        target[x] = np.float32(row[x])


@njit(cache=True, nogil=True)
def _set_sum(target: Array, inner: Array, above: Array, below: Array) -> None:
    for x in range(target.size):
        target[x] = inner[x] + (np.float32(above[x]) + np.float32(below[x]))


@njit(cache=True, nogil=True)
def _set_two(target: Array, a: Array, b: Array, weight_a: float, weight_b: float) -> None:
    for x in range(target.size):
        target[x] = weight_a * a[x] + weight_b * b[x]


@njit(cache=True, nogil=True)
def _add_two(target: Array, a: Array, b: Array, weight_a: float, weight_b: float) -> None:
    for x in range(target.size):
        target[x] += weight_a * a[x] + weight_b * b[x]


@njit(cache=True, nogil=True)
def _add(total: Array, row: Array) -> None:
    for x in range(total.size):
        total[x] += row[x]


@njit(cache=True, nogil=True)
def _add_both(total: Array, left: Array, right: Array) -> None:
    for x in range(total.size):
        total[x] += left[x] + right[x]


@njit(cache=True, nogil=True)
def _truncate(total: Array, result: Array) -> None:
    for x in range(total.size):
        # Above 255 where the kernel's sum exceeds 1, below 0 by the bias.
        result[x] = np.uint8(min(max(total[x], np.float32(0)), np.float32(255)))
