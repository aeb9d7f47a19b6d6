"""Mean-shift segmentation with the pixels of OpenCV's pyrMeanShiftFiltering, several times as fast.

OpenCV compares the colours in a window one by one. All its sums are of integers, so that they are the same
when several colours are compared at once, as the compiler does here.
"""

from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from numba import njit

from benchc.pixels import Pixels

Array = npt.NDArray[Any]
# The next two as in OpenCV.
ITERATIONS = 5
LEAST_DIFFERENCE = 16
# Columns that one instruction compares; windows are read in whole groups of them.
LANES = 8


def mean_shift(image: Pixels, radius: int, colour_radius: int) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with every colour replaced by the mode that it shifts to.

    Equals ``cv2.pyrMeanShiftFiltering(image, radius, colour_radius)``: half the resolution first, and the
    whole where neighbours then differ.

    Args:
        radius: half the side of the square window, in pixels.
        colour_radius: colours of the window count up to this Euclidean distance, in grey levels.
    """
    limit = np.int32(colour_radius**2)
    small = cv2.pyrDown(image)
    coarse = np.empty_like(small)
    _shift(_planes(small), np.ones(small.shape[:2], np.uint8), np.float32(max(radius / 2, 1)), limit, coarse)
    height, width, _ = image.shape
    result = np.ascontiguousarray(cv2.pyrUp(coarse, dstsize=(width, height)))
    mask = np.zeros((height, width), np.uint8)
    _mark(coarse.astype(np.int32), max(limit, np.int32(LEAST_DIFFERENCE)), mask)
    mask = np.asarray(cv2.dilate(mask, np.ones((3, 3), np.uint8)))
    _shift(_planes(image), mask, np.float32(max(radius, 1)), limit, result)
    return result


def _planes(image: Pixels) -> Array:
    """Return int32[3, H, W + LANES], with zeros at the end of each row."""
    return np.pad(image.transpose(2, 0, 1).astype(np.int32), ((0, 0), (0, 0), (0, LANES)))


@njit(cache=True, nogil=True)
def _mark(coarse: Array, limit: Any, mask: Array) -> None:
    """Mark the pixels of the whole resolution where a colour in ``coarse`` differs from a neighbour's.

    The row is one below that of the pixel, as in OpenCV.
    """
    height, width, _ = coarse.shape
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    distance = 0
                    for channel in range(3):
                        distance += (coarse[y, x, channel] - coarse[y + dy, x + dx, channel]) ** 2
                    if distance >= limit:
                        mask[2 * y + 1, 2 * x - 1] = 1


@njit(cache=True, nogil=True)
def _shift(planes: Array, mask: Array, radius: np.float32, limit: Any, result: Array) -> None:
    height, width, _ = result.shape
    for y in range(height):
        for x in range(width):
            if not mask[y, x]:
                continue
            x0, y0 = x, y
            red, green, blue = planes[0, y, x], planes[1, y, x], planes[2, y, x]
            for _ in range(ITERATIONS):
                left, right = max(round(x0 - radius), 0), min(round(x0 + radius), width - 1)
                top, bottom = max(round(y0 - radius), 0), min(round(y0 + radius), height - 1)
                window = right + 1 - left
                whole = -(-window // LANES) * LANES
                count = across = down = reds = greens = blues = 0
                for row in range(top, bottom + 1):
                    near, columns, r, g, b = _near(
                        planes[0, row, left : left + whole],
                        planes[1, row, left : left + whole],
                        planes[2, row, left : left + whole],
                        red,
                        green,
                        blue,
                        limit,
                        np.int32(window),
                    )
                    count += near
                    across += near * left + columns
                    down += near * row
                    reds += r
                    greens += g
                    blues += b
                if count == 0:
                    break
                share = 1 / count
                x1, y1 = round(across * share), round(down * share)
                red1, green1, blue1 = round(reds * share), round(greens * share), round(blues * share)
                moved = abs(x1 - x0) + abs(y1 - y0)
                moved_colour = (red1 - red) ** 2 + (green1 - green) ** 2 + (blue1 - blue) ** 2
                stop = (x0 == x1 and y0 == y1) or moved + moved_colour <= 1
                x0, y0, red, green, blue = x1, y1, np.int32(red1), np.int32(green1), np.int32(blue1)
                if stop:
                    break
            result[y, x, 0], result[y, x, 1], result[y, x, 2] = red, green, blue


@njit(cache=True, nogil=True)
def _near(
    reds: Array,
    greens: Array,
    blues: Array,
    red: np.int32,
    green: np.int32,
    blue: np.int32,
    limit: np.int32,
    width: np.int32,
) -> tuple[Any, ...]:
    """Return of the colours of a row that are near: their number, and the sums of columns and channels.

    Of the row, only the first ``width`` colours are in the window.
    """
    count = columns = red_sum = green_sum = blue_sum = np.int32(0)
    # 32-bit integers, of which the compiler puts most into one instruction.
    for x in range(reds.size):
        r, g, b = reds[x], greens[x], blues[x]
        distance = np.int32((r - red) * (r - red) + (g - green) * (g - green) + (b - blue) * (b - blue))
        near = np.int32(distance <= limit) & np.int32(np.int32(x) < width)
        count = np.int32(count + near)
        columns = np.int32(columns + near * np.int32(x))
        red_sum = np.int32(red_sum + near * r)
        green_sum = np.int32(green_sum + near * g)
        blue_sum = np.int32(blue_sum + near * b)
    return count, columns, red_sum, green_sum, blue_sum
