"""Fog of ImageNet-C: a blend with a plasma fractal."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from benchc.corruptions.fields import CELLS, Bits16, draw_bits16
from benchc.pixels import Pixels

Floats32 = npt.NDArray[np.float32]

# The first displacement of the published fractal is uniform on +- WIBBLE ** 2.
WIBBLE = 100.0
# (CELLS - 1) / 2 as a number: numba, which caches compiled functions by file, would not see an edit of CELLS.
_MIDDLE = np.float32(32767.5)


def draw_plasma(generator: np.random.Generator, height: int, width: int, **_: Any) -> Bits16:
    """Return one uniform number for every point but the first of a square map, as uint16[side**2 - 1].

    The map's side is that of :func:`map_side`. The numbers are in the published code's order:
    from the coarsest level to the finest, in each the centres of the squares, then the centres of their upper
    edges, then of their left edges, row by row.
    """
    return draw_bits16(generator, map_side(height, width) ** 2 - 1)


def fog(image: Pixels, field: Bits16, *, mix: float, wibble_decay: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) blended with a plasma fractal, scaled to keep its brightest value.

    Hendrycks and Dietterich (2019), with the map of imagecorruptions, the next power of two of the larger
    side; ``mix`` is the weight of the fractal, ``wibble_decay`` the factor by which displacements shrink
    from level to level. ``field`` is from :func:`draw_plasma`, for the same shape.
    """
    height, width, _ = image.shape
    plasma, low, high = plasma_map(field, height, width, wibble_decay)
    brightest = int(image.max())
    gain = np.float32(255 * mix / (float(high) - float(low)))
    result = np.empty_like(image)
    _blend(image, plasma, low, gain, np.float32(brightest / (brightest + 255 * mix)), result)
    return result


def map_side(height: int, width: int) -> int:
    """Return the side of the map of an image: the larger of its sides, rounded up to a power of two."""
    return 1 << (max(height, width) - 1).bit_length()


def plasma_map(
    field: Bits16, height: int, width: int, wibble_decay: float
) -> tuple[Floats32, np.float32, np.float32]:
    """Return the upper left of a plasma fractal by the diamond-square algorithm, and the whole map's range.

    The first is float32[height, width]; then come the least and the largest value of the square map, whose
    edges are joined. ``field`` is from :func:`draw_plasma`, for this height and width.
    """
    side = map_side(height, width)
    plasma = np.zeros((1, 1), np.float32)
    low = high = np.float32(0)
    wibble, start, coarse = WIBBLE, 0, 1
    while coarse < side:
        fine = 2 * coarse
        shape = (height, width) if fine == side else (fine, fine)
        bits = field[start : start + 3 * coarse**2].reshape(3, coarse, coarse)
        scale = np.float32(wibble**2 * 2 / CELLS)
        plasma, low, high = _refine(plasma, bits, scale, *shape, low, high)
        start += 3 * coarse**2
        coarse = fine
        wibble /= wibble_decay
    return plasma, low, high


@njit(cache=True, nogil=True)
def _refine(coarse, bits, scale, height, width, low, high):  # type: ignore[no-untyped-def]
    """Return the map of twice the side, cropped to [height, width], and the range of the whole map."""
    side = coarse.shape[0]
    fine = np.empty((height, width), np.float32)
    here = np.empty(side + 1, np.float32)
    below = np.empty(side + 1, np.float32)
    # Centres of squares; those of the last column are also before the first one.
    centre = np.empty(side + 1, np.float32)
    centre_above = np.empty(side + 1, np.float32)
    top = np.empty(side, np.float32)
    left = np.empty(side, np.float32)
    # A minimum per column lets the compiler vectorise the loop over a row.
    lows = np.full(side, low, np.float32)
    highs = np.full(side, high, np.float32)
    _middles(coarse, side - 1, bits[0], scale, here, below, centre_above)
    for y in range(side):
        _middles(coarse, y, bits[0], scale, here, below, centre)
        of_top, of_left = bits[1, y], bits[2, y]
        for x in range(side):
            a = _mean(centre[x + 1] + centre_above[x + 1], here[x] + here[x + 1])
            a += (np.float32(of_top[x]) - _MIDDLE) * scale
            b = _mean(centre[x + 1] + centre[x], here[x] + below[x])
            b += (np.float32(of_left[x]) - _MIDDLE) * scale
            c = centre[x + 1]
            top[x], left[x] = a, b
            lows[x] = min(min(a, b), min(c, lows[x]))
            highs[x] = max(max(a, b), max(c, highs[x]))
        if 2 * y < height:
            _interleave(here, top, fine[2 * y])
        if 2 * y + 1 < height:
            _interleave(left, centre[1:], fine[2 * y + 1])
        centre, centre_above = centre_above, centre
    return fine, lows.min(), highs.max()


@njit(cache=True, nogil=True)
def _middles(coarse, y, bits, scale, here, below, centre):  # type: ignore[no-untyped-def]
    side = coarse.shape[0]
    here[:side] = coarse[y]
    below[:side] = coarse[(y + 1) % side]
    here[side], below[side] = here[0], below[0]
    row = bits[y]
    for x in range(side):
        mean = _mean(here[x] + below[x], here[x + 1] + below[x + 1])
        centre[x + 1] = mean + (np.float32(row[x]) - _MIDDLE) * scale
    centre[0] = centre[side]


@njit(cache=True, nogil=True)
def _mean(a, b):  # type: ignore[no-untyped-def]
    return (a + b) * np.float32(0.25)


@njit(cache=True, nogil=True)
def _interleave(even, odd, row):  # type: ignore[no-untyped-def]
    for x in range(row.size // 2):
        row[2 * x] = even[x]
        row[2 * x + 1] = odd[x]
    if row.size % 2:
        row[row.size - 1] = even[row.size // 2]


@njit(cache=True, nogil=True)
def _blend(image, plasma, low, gain, factor, result):  # type: ignore[no-untyped-def]
    height, width, _ = image.shape
    mist = np.empty(3 * width, np.float32)
    for y in range(height):
        for x in range(width):
            value = (plasma[y, x] - low) * gain
            mist[3 * x] = mist[3 * x + 1] = mist[3 * x + 2] = value
        source, target = image[y].reshape(-1), result[y].reshape(-1)
        for i in range(3 * width):
            target[i] = np.int32((np.float32(source[i]) + mist[i]) * factor)
