"""Texts beside points, where they cover neither points nor each other as far as there is room."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchc.rendering.labels import width
from benchc.rendering.wrap import LETTER

HEIGHT = 1.15  # of a line, in its size
# Directions from a point, the most legible first.
DIRECTIONS = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)]
SIDES = {1: "left", 0: "center", -1: "right"}


class _Box(NamedTuple):
    """A box in points of 1/72 inch."""

    left: float
    bottom: float
    right: float
    top: float

    def overlap(self, other: "_Box") -> float:
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(0.0, wide) * max(0.0, high)

    @property
    def area(self) -> float:
        return (self.right - self.left) * (self.top - self.bottom)


def label_points(
    axes: Any, positions: npt.NDArray[np.float64], texts: Sequence[str], *, size: float, marker: float
) -> None:
    """Write ``texts`` beside ``positions``, float64[points, 2] in data coordinates.

    The longest text is placed first, each where the least of it is covered or outside the axes. Limits of
    the axes and the layout of the figure must not change afterwards.

    Args:
        axes: that the points are in.
        positions: of the points.
        texts: one for each.
        size: of the texts, in points.
        marker: size of the points' marks, in points.
    """
    axes.figure.draw_without_rendering()
    per_pixel = 72 / axes.figure.dpi
    places = axes.transData.transform(positions) * per_pixel
    inside = _Box(*(axes.bbox.extents * per_pixel))
    taken = [_Box(x - marker / 2, y - marker / 2, x + marker / 2, y + marker / 2) for x, y in places]
    for number in sorted(range(len(texts)), key=lambda number: -width(texts[number])):
        found = [
            (_box(places[number], direction, texts[number], size, marker), direction)
            for direction in DIRECTIONS
        ]

        def covered(box: _Box) -> float:
            return box.area - box.overlap(inside) + sum(map(box.overlap, taken))

        box, (x, y) = min(found, key=lambda each: round(covered(each[0]), 1))
        taken.append(box)
        axes.annotate(
            texts[number],
            positions[number],
            (x * _gap(marker), y * _gap(marker)),
            textcoords="offset points",
            ha=SIDES[x],
            va={1: "bottom", 0: "center", -1: "top"}[y],
            fontsize=size,
        )


def _gap(marker: float) -> float:
    return marker / 2 + 1


def _box(
    place: npt.NDArray[np.float64], direction: tuple[int, int], text: str, size: float, marker: float
) -> _Box:
    wide, high = width(text) * LETTER * 72 * size, HEIGHT * size
    left = place[0] + direction[0] * _gap(marker) - wide * (1 - direction[0]) / 2
    bottom = place[1] + direction[1] * _gap(marker) - high * (1 - direction[1]) / 2
    return _Box(left, bottom, left + wide, bottom + high)
