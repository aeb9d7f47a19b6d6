"""Pillow's resampling of 8-bit images: the same values, in less time.

Pillow resamples one axis and then the other, with weights in fixed-point numbers of 22 fractional bits, and
rounds to 8 bits after each (src/libImaging/Resample.c). The sums are integers, so that their order does not
matter. Here the inner loop goes over the bytes of a row, which compilers vectorise.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt
from numba import njit
from PIL import Image
from PIL.Image import Resampling

from benchc.pixels import Pixels

_BITS = 22  # fractional bits of a weight
_HALF = 1 << (_BITS - 1)

Ints = npt.NDArray[np.int32]


def resize(image: Pixels, width: int, height: int, resample: int) -> Pixels:
    """Return ``image``, uint8[H, W, 3], as uint8[height, width, 3], equal to Pillow's ``Image.resize``.

    ``resample``: a key of ``FILTERS``; raises KeyError for another.
    """
    rows, columns, _ = image.shape
    # As Pillow 13 decides; the first axis is rounded first, which shows in the last bit.
    if height < rows and rows - height > 2 * (columns - width):
        return _columns_resized(_rows_resized(image, height, resample), width, resample)
    return _rows_resized(_columns_resized(image, width, resample), height, resample)


@lru_cache(maxsize=1)
def agrees_with_pillow() -> bool:
    """Return whether :func:`resize` equals Pillow's on a few images; another version may do it otherwise."""
    noise = np.random.default_rng(0).integers(0, 256, (61, 53, 3), dtype=np.uint8)
    image = Image.fromarray(noise)
    return all(
        np.array_equal(np.asarray(image.resize(size, resample)), resize(noise, *size, resample))
        for size in ((29, 31), (50, 17), (90, 40), (40, 90), (110, 120), (53, 30), (30, 61))
        for resample in FILTERS
    )


def _columns_resized(image: Pixels, width: int, resample: int) -> Pixels:
    if image.shape[1] == width:
        return image
    turned: Pixels = cv2.transpose(image)  # [W, H, 3]
    found: Pixels = cv2.transpose(_rows_resized(turned, width, resample))
    return found


def _rows_resized(image: Pixels, height: int, resample: int) -> Pixels:
    rows, columns, _ = image.shape
    if rows == height:
        return image
    flat = np.ascontiguousarray(image).reshape(rows, -1)
    found: Pixels = _weighted_rows(flat, *_plan(rows, height, resample))
    return found.reshape(height, columns, 3)


@lru_cache(maxsize=64)
def _plan(size: int, target: int, resample: int) -> tuple[Ints, Ints, Ints]:
    """Return the first row, the weights [target, n] and their number, for each row of the result."""
    function, radius = FILTERS[resample]
    scale = size / target
    stretch = max(scale, 1.0)
    support = radius * stretch
    firsts, counts = np.zeros(target, np.int32), np.zeros(target, np.int32)
    weights = np.zeros((target, 2 * math.ceil(support) + 1), np.int32)
    for row in range(target):
        centre = (row + 0.5) * scale
        first = max(int(centre - support + 0.5), 0)
        last = min(int(centre + support + 0.5), size)
        values = [function((each - centre + 0.5) / stretch) for each in range(first, last)]
        total = math.fsum(values)
        fixed = [value / total * (1 << _BITS) for value in values]
        weights[row, : len(fixed)] = [int(value - 0.5 if value < 0 else value + 0.5) for value in fixed]
        firsts[row], counts[row] = first, len(fixed)
    return firsts, weights, counts


@njit(cache=True, nogil=True)
def _weighted_rows(image, firsts, weights, counts):  # type: ignore[no-untyped-def]
    """Return rows of weighted sums of the rows of ``image``, uint8[H, n]."""
    result = np.empty((len(firsts), image.shape[1]), np.uint8)
    sums = np.empty(image.shape[1], np.int32)
    for row in range(len(firsts)):
        sums[:] = _HALF
        # Two rows at a time: half the passes over the sums.
        for each in range(0, counts[row] - 1, 2):
            one, other = image[firsts[row] + each], image[firsts[row] + each + 1]
            weight, next_weight = weights[row, each], weights[row, each + 1]
            for i in range(len(sums)):
                sums[i] += np.int32(one[i]) * weight + np.int32(other[i]) * next_weight
        if counts[row] % 2:
            last, weight = image[firsts[row] + counts[row] - 1], weights[row, counts[row] - 1]
            for i in range(len(sums)):
                sums[i] += np.int32(last[i]) * weight
        target = result[row]
        for i in range(len(sums)):
            target[i] = min(max(sums[i] >> _BITS, 0), 255)
    return result


def _bilinear(x: float) -> float:
    return max(1.0 - abs(x), 0.0)


def _bicubic(x: float) -> float:
    x = abs(x)
    if x < 1.0:
        return (1.5 * x - 2.5) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * -0.5 if x < 2.0 else 0.0


def _lanczos(x: float) -> float:
    return _sinc(x) * _sinc(x / 3) if -3.0 <= x < 3.0 else 0.0


def _sinc(x: float) -> float:
    return 1.0 if x == 0.0 else math.sin(x * math.pi) / (x * math.pi)


# The filters, with their radius, by the number of Pillow.
FILTERS: dict[int, tuple[Callable[[float], float], float]] = {
    Resampling.BILINEAR: (_bilinear, 1.0),
    Resampling.BICUBIC: (_bicubic, 2.0),
    Resampling.LANCZOS: (_lanczos, 3.0),
}
