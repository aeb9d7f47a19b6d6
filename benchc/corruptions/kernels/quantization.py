"""Fewer colours, or fewer levels per channel.

Source: R-Bench's dimensions 14 ("minimum variance quantization") and 18 ("uniform quantization").
"""

import numpy as np
import numpy.typing as npt

from benchc.pixels import Pixels

Floats = npt.NDArray[np.float64]

# The palette is chosen from the upper 5 bits of every channel.
_BITS = 5
_CELLS = 1 << (3 * _BITS)
_REFINEMENTS = 8


def color_quantization(image: Pixels, *, colors: int) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) in at most ``colors`` colours adapted to it, without dithering.

    Minimises the squared distance to the means of groups of colours: the group with the largest share of it
    is split at its mean along its widest axis until there are enough (Wan, Wong and Prusinkiewicz, 1988),
    then refined by Lloyd's iterations.
    """
    cells = _cells(image)
    count = np.bincount(cells.reshape(-1), minlength=_CELLS)
    used = np.flatnonzero(count)
    mean = np.empty((used.size, 3))
    for channel in range(3):
        total = np.bincount(cells.reshape(-1), image[..., channel].reshape(-1), minlength=_CELLS)
        mean[:, channel] = total[used] / count[used]
    palette, group = _palette(mean, count[used].astype(np.float64), colors)
    table = np.zeros((_CELLS, 3), np.uint8)
    table[used] = np.rint(palette[group])
    return table[cells]


def grayscale_quantization(image: Pixels, *, levels: int) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) at the nearest of ``levels`` even levels per channel."""
    step = 255 / (levels - 1)
    return np.rint(np.rint(np.arange(256) / step) * step).astype(np.uint8)[image]


def _cells(image: Pixels) -> npt.NDArray[np.uint16]:
    cells = np.zeros(image.shape[:2], np.uint16)
    for channel in range(3):
        cells <<= _BITS
        cells |= image[..., channel] >> (8 - _BITS)
    return cells


def _palette(points: Floats, weights: Floats, colors: int) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return the colours, float64[n, 3], and the index of each point's colour."""
    group = _split(points, weights, colors)
    for _ in range(_REFINEMENTS):
        palette = _means(points, weights, group)
        distance = np.full(len(points), np.inf)
        nearest = np.zeros(len(points), np.int64)
        for i, color in enumerate(palette):
            gap = ((points - color) ** 2).sum(axis=1)
            closer = gap < distance
            nearest[closer] = i
            distance[closer] = gap[closer]
        if np.array_equal(nearest, group):
            break
        # Groups that lost all their points are removed.
        group = np.unique(nearest, return_inverse=True)[1]
    return _means(points, weights, group), group


def _split(points: Floats, weights: Floats, colors: int) -> npt.NDArray[np.int64]:
    group = np.zeros(len(points), np.int64)
    spreads = [_spread(points, weights)]
    while len(spreads) < colors and max(spread.max() for spread in spreads) > 0:
        widest = int(np.argmax([spread.sum() for spread in spreads]))
        members = np.flatnonzero(group == widest)
        axis = int(np.argmax(spreads[widest]))
        values = points[members, axis]
        upper = members[values > np.average(values, weights=weights[members])]
        group[upper] = len(spreads)
        lower = np.flatnonzero(group == widest)
        spreads[widest] = _spread(points[lower], weights[lower])
        spreads.append(_spread(points[upper], weights[upper]))
    return group


def _spread(points: Floats, weights: Floats) -> Floats:
    """Return the weighted squared distance from the mean, per axis."""
    if len(points) == 1:
        return np.zeros(3)
    mean = np.average(points, axis=0, weights=weights)
    return np.asarray((weights[:, np.newaxis] * (points - mean) ** 2).sum(axis=0))


def _means(points: Floats, weights: Floats, group: npt.NDArray[np.int64]) -> Floats:
    total = np.bincount(group, weights)
    sums = [np.bincount(group, weights * points[:, axis]) for axis in range(3)]
    return np.stack(sums, axis=1) / total[:, np.newaxis]
