"""Glass blur of ImageNet-C: a blur, a local shuffle of pixels in a fixed order, and the blur again."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from benchc.corruptions.convolution import gaussian_bias, gaussian_kernel, separable_image
from benchc.corruptions.fields import draw_bits16
from benchc.pixels import Pixels

Array = npt.NDArray[Any]
Cells = npt.NDArray[np.uint8]


def glass_blur(
    image: Pixels, field: Cells, *, sigma: float, max_delta: int, iterations: int, swap: bool
) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) as through frosted glass (Hendrycks and Dietterich, 2019).

    Pixels are visited from the bottom right to the top left, ``iterations`` times, except within
    ``max_delta`` of an edge. Each takes the current colour of its partner; with ``swap`` the partner takes
    the pixel's. Both blurs truncate, which lowers some flat areas by up to two levels.

    Args:
        field: uint8[iterations, H - 2 * max_delta, W - 2 * max_delta], the partner of pixel
            [y + max_delta + 1, x + max_delta + 1]: with n = 2 * max_delta, it is ``cell // n - max_delta``
            rows below and ``cell % n - max_delta`` columns to the right.
        sigma: of the Gaussian before and after, in pixels.
    """
    height, width, _ = image.shape
    kernel, bias = gaussian_kernel(sigma), gaussian_bias(sigma)
    blurred = separable_image(image, kernel, "nearest", bias)
    deltas = np.arange(-max_delta, max_delta)
    offsets = (deltas[:, None] * width + deltas).reshape(-1)
    # One 32-bit word per pixel.
    words = np.empty(height * width, np.uint32)
    _pack(blurred.reshape(-1), words)
    (_swap if swap else _copy)(words, width, max_delta, field, offsets)
    _unpack(words, blurred.reshape(-1))
    return separable_image(blurred, kernel, "nearest", bias)


def draw_glass_offsets(
    generator: np.random.Generator,
    height: int,
    width: int,
    *,
    sigma: float,
    max_delta: int,
    iterations: int,
    swap: bool,
) -> Cells:
    """Return the field of :func:`glass_blur`: independent partners.

    Their offsets along each axis, -max_delta to max_delta - 1 pixels, are equally likely: exactly where
    4 * max_delta ** 2 is a power of two, otherwise within 1 part in 1,800.
    """
    rows, columns = height - 2 * max_delta, width - 2 * max_delta
    cells = np.empty((iterations, rows, columns), np.uint8)
    bits = draw_bits16(generator, *cells.shape)
    _scale(bits.reshape(-1), 4 * max_delta**2, cells.reshape(-1))
    return cells


@njit(cache=True, nogil=True)
def _scale(bits: Array, count: int, cells: Array) -> None:
    factor = np.uint32(count)
    for i in range(bits.size):
        cells[i] = np.uint8((np.uint32(bits[i]) * factor) >> np.uint32(16))


@njit(cache=True, nogil=True)
def _copy(words: Array, width: int, margin: int, field: Array, offsets: Array) -> None:
    iterations, rows, columns = field.shape
    for iteration in range(iterations):
        for row in range(rows - 1, -1, -1):
            start = (row + margin + 1) * width + margin + 1
            cells = field[iteration, row]
            for column in range(columns - 1, -1, -1):
                pixel = start + column
                words[pixel] = words[pixel + offsets[cells[column]]]


@njit(cache=True, nogil=True)
def _swap(words: Array, width: int, margin: int, field: Array, offsets: Array) -> None:
    iterations, rows, columns = field.shape
    for iteration in range(iterations):
        for row in range(rows - 1, -1, -1):
            start = (row + margin + 1) * width + margin + 1
            cells = field[iteration, row]
            for column in range(columns - 1, -1, -1):
                pixel = start + column
                partner = pixel + offsets[cells[column]]
                own = words[pixel]
                words[pixel] = words[partner]
                words[partner] = own


@njit(cache=True, nogil=True)
def _pack(values: Array, words: Array) -> None:
    for i in range(words.size):
        high = np.uint32(values[3 * i + 1]) << np.uint32(8) | np.uint32(values[3 * i + 2]) << np.uint32(16)
        words[i] = np.uint32(values[3 * i]) | high


@njit(cache=True, nogil=True)
def _unpack(words: Array, values: Array) -> None:
    for i in range(words.size):
        word = words[i]
        values[3 * i] = np.uint8(word)
        values[3 * i + 1] = np.uint8(word >> np.uint32(8))
        values[3 * i + 2] = np.uint8(word >> np.uint32(16))
