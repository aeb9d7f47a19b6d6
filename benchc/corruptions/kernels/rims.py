"""Edges of a grey image and distances from them: OpenCV's Canny and distanceTransform, by whole rows.

The results equal OpenCV's; processing whole rows makes them three times as fast.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

Plane = npt.NDArray[np.uint8]

# The tangent of 22.5 degrees in units of 2 ** -15, as OpenCV has it.
TANGENT_BITS = 15
TANGENT = np.int32(13_573)
# Distances to the next pixel, diagonally, and by a knight's move: the lengths 1, 1.4 and 2.1969 of OpenCV's
# 5 x 5 mask, in units in which they are integers.
UNIT = 10_000
BESIDE, CORNER, KNIGHT = np.int32(UNIT), np.int32(14_000), np.int32(21_969)
# The reach of the five doubling steps of a scan, and so the largest limit of a distance, in pixels.
REACH = 31
MARGIN = 16


def edges(plane: Plane, low: int, high: int) -> Plane:
    """Return the edges of ``plane`` (uint8[H, W]) as 0 and 1, uint8[H, W], which may be a view.

    Canny (1986) as in OpenCV: Sobel's gradient of 3 x 3 in the city-block norm; its ridges above ``high``,
    and those above ``low`` that are connected to them.
    """
    height, width = plane.shape
    # Both have a margin of one pixel, and rows of a multiple of eight pixels.
    shape = height + 2, (width + 2 + 7) // 8 * 8
    strong, weak = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    _ridges(plane, low, high, strong, weak)
    _join(strong.reshape(-1), weak.reshape(-1), strong.shape[1], int(np.count_nonzero(weak.view(np.bool_))))
    return np.asarray(strong[1 : height + 1, 1 : width + 1])


def mean_distances(rims: Plane, limit: int) -> Plane:
    """Return each pixel's distance from the nearest rim, at most ``limit``, averaged over 3 x 3, truncated.

    ``rims`` is uint8[H, W], not 0 on a rim; the result is uint8[H, W]. Borgefors (1986), mask of 5 x 5, as in
    OpenCV. Raises ValueError for a limit above 31.
    """
    if not 0 <= limit <= REACH:
        raise ValueError(f"distances are found up to a limit of {REACH}, not {limit}")
    height, width = rims.shape
    distances = np.full((height + 4, width + 2 * MARGIN), limit * UNIT, np.int32)
    _find_distances(np.ascontiguousarray(rims), distances)
    result = np.empty((height, width), np.uint8)
    _average(distances, result)
    return result


@njit(cache=True, nogil=True)
def _ridges(plane, low, high, strong, weak):  # type: ignore[no-untyped-def]
    height, width = plane.shape
    levels = np.empty((3, width + 2), np.uint8)
    # Magnitudes outside the plane are zero.
    sizes = np.zeros((3, width + 2), np.int32)
    across, along = np.empty((2, width), np.int32), np.empty((2, width), np.int32)
    _repeat_ends(plane[0], levels[0])
    _repeat_ends(plane[0], levels[1])
    for y in range(height + 1):
        if y < height:
            _repeat_ends(plane[min(y + 1, height - 1)], levels[(y + 2) % 3])
            above, here, below = levels[y % 3], levels[(y + 1) % 3], levels[(y + 2) % 3]
            _gradient(above, here, below, across[y % 2], along[y % 2], sizes[y % 3, 1 : width + 1])
        else:
            sizes[y % 3] = 0
        if y > 0:
            row = y - 1
            _find_ridges(
                sizes[(y + 1) % 3],
                sizes[row % 3],
                sizes[y % 3],
                across[row % 2],
                along[row % 2],
                np.int32(low),
                np.int32(high),
                strong[y, 1 : width + 1],
                weak[y, 1 : width + 1],
            )


@njit(cache=True, nogil=True)
def _repeat_ends(row, result):  # type: ignore[no-untyped-def]
    result[1 : row.size + 1] = row
    result[0], result[row.size + 1] = row[0], row[row.size - 1]


@njit(cache=True, nogil=True)
def _gradient(above, here, below, across, along, size):  # type: ignore[no-untyped-def]
    two = np.int32(2)
    for x in range(size.size):
        left = np.int32(above[x]) + two * np.int32(here[x]) + np.int32(below[x])
        right = np.int32(above[x + 2]) + two * np.int32(here[x + 2]) + np.int32(below[x + 2])
        upper = np.int32(above[x]) + two * np.int32(above[x + 1]) + np.int32(above[x + 2])
        lower = np.int32(below[x]) + two * np.int32(below[x + 1]) + np.int32(below[x + 2])
        across[x] = right - left
        along[x] = lower - upper
        size[x] = abs(right - left) + abs(lower - upper)


@njit(cache=True, nogil=True)
def _find_ridges(above, here, below, across, along, low, high, strong, weak):  # type: ignore[no-untyped-def]
    """Mark where a magnitude is above its two neighbours along the gradient, in one of four directions."""
    for x in range(across.size):
        size = here[x + 1]
        run = abs(across[x]) * TANGENT
        rise = abs(along[x]) << np.int32(TANGENT_BITS)
        # The tangent of 67.5 degrees is that of 22.5 and 2.
        steep = run + (abs(across[x]) << np.int32(TANGENT_BITS + 1))
        level = (size > here[x]) & (size >= here[x + 2])
        upright = (size > above[x + 1]) & (size >= below[x + 1])
        falling = (size > above[x]) & (size > below[x + 2])
        rising = (size > above[x + 2]) & (size > below[x])
        diagonal = rising if (across[x] ^ along[x]) < 0 else falling
        ridge = level if rise < run else (upright if rise > steep else diagonal)
        strong[x] = ridge & (size > high)
        weak[x] = ridge & (size > low) & (size <= high)


@njit(cache=True, nogil=True)
def _join(strong, weak, stride, count):  # type: ignore[no-untyped-def]
    """Make weak pixels strong that are connected to strong ones; ``count`` pixels are weak."""
    around = np.array([-stride - 1, -stride, -stride + 1, -1, 1, stride - 1, stride, stride + 1])
    pending = np.empty(count, np.int64)
    # Few pixels are weak, so eight are skipped at a time.
    words = weak.view(np.uint64)
    for word in range(words.size):
        if words[word] == 0:
            continue
        for pixel in range(8 * word, 8 * word + 8):
            if weak[pixel] == 0:
                continue
            touches = False
            for step in around:
                touches |= strong[pixel + step] != 0
            if not touches:
                continue
            weak[pixel], strong[pixel] = 0, 1
            pending[0], left = pixel, 1
            while left:
                left -= 1
                joined = pending[left]
                for step in around:
                    if weak[joined + step]:
                        weak[joined + step], strong[joined + step] = 0, 1
                        pending[left] = joined + step
                        left += 1


@njit(cache=True, nogil=True)
def _find_distances(rims, distances):  # type: ignore[no-untyped-def]
    """Lower the distances, which start at their limit: first down and right, then up and left."""
    height, width = rims.shape
    start, end = MARGIN, MARGIN + width
    for y in range(height):
        _start_at_rims(rims[y], distances[y + 2, start:end])
    # Separate arrays, as the compiler assumes that two rows of one array overlap.
    first = np.full(width + 2 * MARGIN, distances[0, 0], np.int32)
    second = np.full(width + 2 * MARGIN, distances[0, 0], np.int32)
    for turn in range(2 * height):
        down = turn < height
        y = turn + 2 if down else 2 * height - turn + 1
        step = -1 if down else 1
        here = distances[y, start:end]
        near = distances[y + step, start - 2 : end + 2]
        far = distances[y + 2 * step, start - 1 : end + 1]
        _lower(near, far, here, first[start:end])
        _scan(first, second, here, step)


@njit(cache=True, nogil=True)
def _start_at_rims(rims, distances):  # type: ignore[no-untyped-def]
    for x in range(rims.size):
        distances[x] = np.int32(0) if rims[x] else distances[x]


@njit(cache=True, nogil=True)
def _lower(near, far, here, result):  # type: ignore[no-untyped-def]
    for x in range(here.size):
        least = min(min(near[x], near[x + 4]), min(far[x], far[x + 2])) + KNIGHT
        least = min(least, min(near[x + 1], near[x + 3]) + CORNER)
        result[x] = min(min(least, near[x + 2] + BESIDE), here[x])


@njit(cache=True, nogil=True)
def _scan(first, second, result, step):  # type: ignore[no-untyped-def]
    """Lower each pixel of ``first`` to its neighbour's distance and one, from end to end of the row.

    Neighbours at 1, 2, 4, 8 and 16 pixels are enough up to the limit, and make pixels independent.
    """
    start, end = MARGIN, MARGIN + result.size
    a, b = first[start:end], second[start:end]
    _lower_from(a, first[start + step : end + step], BESIDE, b)
    _lower_from(b, second[start + 2 * step : end + 2 * step], np.int32(2) * BESIDE, a)
    _lower_from(a, first[start + 4 * step : end + 4 * step], np.int32(4) * BESIDE, b)
    _lower_from(b, second[start + 8 * step : end + 8 * step], np.int32(8) * BESIDE, a)
    _lower_from(a, first[start + 16 * step : end + 16 * step], np.int32(16) * BESIDE, result)


@njit(cache=True, nogil=True)
def _lower_from(row, neighbours, distance, result):  # type: ignore[no-untyped-def]
    for x in range(row.size):
        result[x] = min(row[x], np.int32(neighbours[x] + distance))


@njit(cache=True, nogil=True)
def _average(distances, result):  # type: ignore[no-untyped-def]
    height, width = result.shape
    start, end = MARGIN, MARGIN + width
    sums = np.empty(width + 2, np.int32)
    for y in range(height):
        # Mirrored without repeating the edge.
        above, below = abs(y - 1), min(y + 1, 2 * height - 3 - y)
        columns = sums[1 : width + 1]
        _add(
            distances[above + 2, start:end],
            distances[y + 2, start:end],
            distances[below + 2, start:end],
            columns,
        )
        sums[0], sums[width + 1] = sums[2], sums[width - 1]
        _divide(sums, result[y])


@njit(cache=True, nogil=True)
def _add(above, here, below, result):  # type: ignore[no-untyped-def]
    for x in range(result.size):
        result[x] = above[x] + here[x] + below[x]


@njit(cache=True, nogil=True)
def _divide(sums, result):  # type: ignore[no-untyped-def]
    for x in range(result.size):
        total = np.float64(np.int32(sums[x] + sums[x + 1] + sums[x + 2])) / UNIT
        # In single precision, as in OpenCV, so that sums of ninths become exact integers.
        result[x] = np.int32(np.float32(total * (1 / 9)))
