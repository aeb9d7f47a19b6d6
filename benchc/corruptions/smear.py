"""Motion blur along a line, of planes and of images, as in imagecorruptions' motion blur and snow.

Rows are summed tap by tap in a fixed order, so the result does not depend on the machine.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from benchc.corruptions.convolution import KEEP_LEVELS, flat_bias
from benchc.pixels import Pixels

Array = npt.NDArray[Any]
Floats32 = npt.NDArray[np.float32]
Floats64 = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

# Truncation to integer levels, as in benchc.corruptions.convolution.
TRUNCATION_BIAS = np.float32(2**-10)
BLOCK = 32


class Line(NamedTuple):
    """Taps of a smear: output [y, x] sums ``weights[i]`` times input [y + rows[i], x + columns[i]]."""

    rows: Indices
    columns: Indices
    weights: Floats32


def line_taps(radius: int, sigma: float, angle: float, height: int, width: int) -> Line:
    """Return the taps of a smear by half a Gaussian along a line.

    Args:
        radius: the smear has 2 * radius + 1 taps, one per pixel of distance; their weights sum to 1.
        sigma: of the Gaussian, in pixels.
        angle: of the line, in degrees; 0 is along the rows, 90 down the columns.
        height, width: of the image. Taps that would shift it out completely are dropped without
            renormalising the weights, so the image darkens, as in imagecorruptions.
    """
    count = 2 * radius + 1
    distances = np.arange(count)
    weights = _weights(radius, sigma)
    down, right = count * np.sin(np.deg2rad(angle)), count * np.cos(np.deg2rad(angle))
    length = math.hypot(down, right)
    # This order of operations breaks ties as in imagecorruptions.
    rows = np.ceil(distances * down / length - 0.5).astype(np.int64)
    columns = np.ceil(distances * right / length - 0.5).astype(np.int64)
    outside = np.flatnonzero((np.abs(rows) >= height) | (np.abs(columns) >= width))
    kept = int(outside[0]) if outside.size else count
    return Line(rows[:kept], columns[:kept], weights[:kept].astype(np.float32))


@lru_cache(maxsize=64)
def smear_bias(radius: int, sigma: float) -> Floats32:
    """Return float32[256] for :func:`smear_image`, which then treats flat areas as imagecorruptions does.

    On processors with AVX-512, where numpy's exponential rounds differently, imagecorruptions itself differs
    by one level in some of them.
    """
    total = np.zeros(256)
    for weight in _weights(radius, sigma):
        total += weight * np.arange(256)
    return flat_bias(total)


def smear(plane: Floats32, line: Line) -> Floats32:
    """Return ``plane`` (float32[H, W]) smeared along ``line``; its edge is repeated beyond it."""
    padded, columns = _widen(plane.astype(np.float32, copy=False), line)
    result = np.empty(plane.shape, np.float32)
    _smear_plane(padded, line.rows, columns, line.weights, result)
    return result


def smear_image(image: Pixels, line: Line, bias: Floats32 = KEEP_LEVELS) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) smeared along ``line``, truncated; its edge is repeated.

    ``bias`` (float32[256]) is added before truncation to values near each level.
    """
    padded, columns = _widen(image, line)
    height, width, channels = image.shape
    result = np.empty((height, width * channels), np.uint8)
    _smear_image(padded.reshape(height, -1), line.rows, columns * channels, line.weights, bias, result)
    return result.reshape(image.shape)


def _weights(radius: int, sigma: float) -> Floats64:
    distances = np.arange(2 * radius + 1)
    # numpy's exponential depends on the processor. Scaled twice, to round as imagecorruptions does.
    weights = np.array([math.exp(exponent) for exponent in -(distances**2) / (2 * sigma**2)])
    weights /= np.sqrt(2 * np.pi) * sigma
    return np.asarray(weights / weights.sum())


def _widen(image: Array, line: Line) -> tuple[Array, Indices]:
    """Return the image with its edge repeated on both sides, and where each tap begins in it."""
    # The first tap, which is never dropped, does not shift.
    left, right = -int(line.columns.min()), int(line.columns.max())
    margins = ((0, 0), (left, right), *((0, 0),) * (image.ndim - 2))
    return np.pad(image, margins, mode="edge"), line.columns + left


@njit(cache=True, nogil=True)
def _smear_image(
    source: Array, rows: Indices, columns: Indices, weights: Array, bias: Array, result: Array
) -> None:
    height, length = result.shape
    total = np.empty(length, np.float32)
    for y in range(height):
        _sum_taps(source, y, rows, columns, weights, total)
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
def _smear_plane(source: Array, rows: Indices, columns: Indices, weights: Array, result: Array) -> None:
    for y in range(result.shape[0]):
        _sum_taps(source, y, rows, columns, weights, result[y])


@njit(cache=True, nogil=True)
def _sum_taps(source: Array, y: int, rows: Indices, columns: Indices, weights: Array, total: Array) -> None:
    count = weights.size
    total[:] = 0
    # Two taps at a time halve the memory traffic.
    for tap in range(0, count - 1, 2):
        first = _tap(source, y + rows[tap], columns[tap], total.size)
        second = _tap(source, y + rows[tap + 1], columns[tap + 1], total.size)
        _add_two(total, first, second, weights[tap], weights[tap + 1])
    if count % 2:
        last = _tap(source, y + rows[count - 1], columns[count - 1], total.size)
        _add(total, last, weights[count - 1])


@njit(cache=True, nogil=True)
def _tap(source: Array, y: int, start: int, length: int) -> Array:
    return source[min(max(y, 0), source.shape[0] - 1), start : start + length]


@njit(cache=True, nogil=True)
def _add(total: Array, row: Array, weight: float) -> None:
    for x in range(total.size):
        total[x] += weight * np.float32(row[x])


@njit(cache=True, nogil=True)
def _add_two(total: Array, first: Array, second: Array, weight: float, next_weight: float) -> None:
    for x in range(total.size):
        total[x] += weight * np.float32(first[x]) + next_weight * np.float32(second[x])
