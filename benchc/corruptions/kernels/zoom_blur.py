"""Zoom blur of ImageNet-C: the mean of the image and of its enlargements about the centre.

Enlargement is bilinear, first along rows, then down columns. Along a row, the distance between a pixel and
its source grows slowly. So 48 adjacent values are weighted sums of a few shifts of 48 adjacent values of the
source, with mostly zero weights, and no value is fetched individually.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from benchc.corruptions.convolution import flat_bias
from benchc.pixels import Pixels

Array = npt.NDArray[Any]
Floats32 = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]

CHANNELS = 3
BLOCK = 48  # values of a row that are computed together: 16 pixels
MARGIN = 48  # values before a row, where shifts may begin
LEAST_SHIFTS = 3


class _Axis(NamedTuple):
    """Every enlargement along one axis: pixel i mixes the source's ``first`` and the one after it."""

    first: Indices  # [factors, length]
    near: Floats32  # [factors, length], weight of the first
    far: Floats32  # [factors, length], weight of the next


class _Blocks(NamedTuple):
    """Every enlargement along a row of values: value v of a block sums weights[:, v] of the source.

    The source's values begin at ``starts`` for the first shift, and three values later for each further one.
    """

    starts: npt.NDArray[np.uint64]  # [factors, blocks], counted from MARGIN values before the row
    shifts: Indices  # [factors, blocks], at least LEAST_SHIFTS
    weights: Floats32  # [factors, most shifts, blocks * BLOCK]


def zoom_blur(image: Pixels, *, stop: float, step: float) -> Pixels:
    """Return the mean of ``image`` (uint8[H, W, 3]) and its enlargements by 1, 1 + step, ..., truncated.

    The factors are those of ``numpy.arange(1, stop, step)``, whose rounding decides whether it includes
    ``stop``; the image itself is added once more. Each enlarges a central crop bilinearly, as in
    scipy.ndimage.zoom (Hendrycks and Dietterich, 2019, with both axes cropped as in imagecorruptions).
    Truncation lowers some flat areas by one level, as it does there.
    """
    height, width, channels = image.shape
    factors = tuple(float(factor) for factor in np.arange(1, stop, step))
    rows, blocks = _axis(height, factors[1:]), _blocks(width, factors[1:])
    result = np.empty((height, width * channels), np.uint8)
    share = np.float32(1 / (len(factors) + 1))
    source = np.ascontiguousarray(image).reshape(height, -1)
    _mean(source, *rows, blocks.starts, blocks.shifts, blocks.weights, share, _bias(len(factors)), result)
    return result.reshape(image.shape)


@lru_cache(maxsize=16)
def _bias(count: int) -> Floats32:
    """Return the bias before truncation, from a flat area enlarged ``count`` times, in float32."""
    level = np.arange(256, dtype=np.float32) / np.float32(255)
    total = np.zeros(256, np.float32)
    for _ in range(count):
        total += level
    mean = (level + total) / np.float32(count + 1)
    return flat_bias((mean * np.float32(255)).astype(np.float64))


@lru_cache(maxsize=16)
def _axis(length: int, factors: tuple[float, ...]) -> _Axis:
    first = np.empty((len(factors), length), np.int64)
    near, far = np.empty((2, len(factors), length), np.float32)
    for i, factor in enumerate(factors):
        size = int(np.ceil(length / factor))
        start = (length - size) // 2
        positions = np.arange(length) * ((size - 1) / (round(size * factor) - 1))
        whole = np.minimum(positions.astype(np.int64), size - 2)
        # Where rounding puts the last position outside the crop, scipy makes it black.
        inside = positions <= size - 1
        first[i] = start + whole
        near[i] = np.where(inside, 1 - (positions - whole), 0)
        far[i] = np.where(inside, positions - whole, 0)
    return _Axis(first, near, far)


@lru_cache(maxsize=16)
def _blocks(width: int, factors: tuple[float, ...]) -> _Blocks:
    axis = _axis(width, factors)
    blocks = -(-width * CHANNELS // BLOCK)
    value = np.arange(blocks * BLOCK)
    pixel = np.minimum(value // CHANNELS, width - 1)
    outside = value >= width * CHANNELS
    # Distance from a value back to its first source, a multiple of three.
    distance = CHANNELS * (np.arange(width) - axis.first)[:, pixel]
    by_block = distance.reshape(len(factors), blocks, BLOCK)
    farthest, nearest = by_block.max(axis=2), by_block.min(axis=2)
    starts = MARGIN + np.arange(blocks) * BLOCK - farthest
    shifts = np.maximum((farthest - nearest) // CHANNELS + 2, LEAST_SHIFTS)
    weights = np.zeros((len(factors), int(shifts.max()), value.size), np.float32)
    shift = (np.repeat(farthest, BLOCK, axis=1) - distance) // CHANNELS
    each = np.arange(len(factors))[:, None]
    weights[each, shift, value] = np.where(outside, 0, axis.near[:, pixel])
    weights[each, shift + 1, value] = np.where(outside, 0, axis.far[:, pixel])
    return _Blocks(starts.astype(np.uint64), shifts, weights)


@njit(cache=True, nogil=True)
def _mean(
    source: Array,
    first: Indices,
    near: Array,
    far: Array,
    starts: Array,
    shifts: Indices,
    weights: Array,
    share: np.float32,
    bias: Array,
    result: Array,
) -> None:
    height, length = source.shape
    factors, most, padded = weights.shape
    # For every enlargement, the latest even and odd source rows, enlarged along the row.
    rows = np.empty((2 * factors, padded), np.float32)
    held = np.full(2 * factors, -1)
    # Always zero, for shifts of weight 0 that reach beyond the row.
    values = np.zeros(MARGIN + padded + BLOCK + CHANNELS * most, np.float32)
    total = np.empty(length, np.float32)
    for y in range(height):
        _start(total, source[y], np.float32(2) * share)
        for factor in range(factors):
            upper = first[factor, y]
            for row in range(upper, upper + 2):
                slot = 2 * factor + row % 2
                if held[slot] != row:
                    held[slot] = row
                    _to_float(source[row], values[MARGIN : MARGIN + length])
                    _enlarge(values, starts[factor], shifts[factor], weights[factor], rows[slot])
            near_share, far_share = share * near[factor, y], share * far[factor, y]
            even, odd = (near_share, far_share) if upper % 2 == 0 else (far_share, near_share)
            _add(total, rows[2 * factor], rows[2 * factor + 1], even, odd)
        _truncate(total, bias, result[y])


@njit(cache=True, nogil=True)
def _enlarge(values: Array, starts: Array, shifts: Indices, weights: Array, row: Array) -> None:
    # Unsigned, as a signed index would be checked for being negative.
    block, channels = np.uint64(BLOCK), np.uint64(CHANNELS)
    first, second, third = weights[0], weights[1], weights[2]
    for i in range(starts.size):
        a = starts[i]
        b, c = a + channels, a + channels + channels
        start = np.uint64(i) * block
        for x in range(block):
            two = first[start + x] * values[a + x] + second[start + x] * values[b + x]
            row[start + x] = two + third[start + x] * values[c + x]
        for shift in range(LEAST_SHIFTS, shifts[i]):
            c += channels
            further = weights[shift]
            for x in range(block):
                row[start + x] += further[start + x] * values[c + x]


@njit(cache=True, nogil=True)
def _to_float(source: Array, values: Array) -> None:
    for x in range(source.size):
        values[x] = np.float32(source[x])


@njit(cache=True, nogil=True)
def _start(total: Array, source: Array, weight: np.float32) -> None:
    for x in range(total.size):
        total[x] = weight * np.float32(source[x])


@njit(cache=True, nogil=True)
def _add(total: Array, even: Array, odd: Array, even_weight: np.float32, odd_weight: np.float32) -> None:
    for x in range(total.size):
        total[x] += even_weight * even[x] + odd_weight * odd[x]


@njit(cache=True, nogil=True)
def _truncate(total: Array, bias: Array, result: Array) -> None:
    for x in range(total.size):
        nearest = np.uint8(total[x] + np.float32(0.5))
        result[x] = np.uint8(total[x] + bias[nearest])
