"""The images of an item in a part of a figure, in a grid that fills it, at print resolution."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.patches import Rectangle
from PIL import Image

from benchc.pixels import Pixels
from benchc.rendering.save import PIXELS_PER_INCH
from benchc.rendering.style import FAINT

GAP = 0.04  # inches, between images


def plot_images(axes: Any, images: Sequence[Pixels], *, width: float, height: float) -> None:
    """Plot ``images`` (uint8[H, W, 3] each) in reading order into ``axes``, a box of the given inches.

    The number of columns maximises the smallest scale; each image fills its cell as far as its aspect ratio
    allows. Data coordinates of the axes are inches from the lower left corner.
    """
    columns = max(range(1, len(images) + 1), key=lambda count: _scale(images, count, width, height))
    cell_width, cell_height = _cell(len(images), columns, width, height)
    for place, image in enumerate(images):
        row, column = divmod(place, columns)
        scale = _fit(image, cell_width, cell_height)
        sides = image.shape[1] * scale, image.shape[0] * scale
        left = column * (cell_width + GAP) + (cell_width - sides[0]) / 2
        bottom = height - row * (cell_height + GAP) - (cell_height + sides[1]) / 2
        extent = (left, left + sides[0], bottom, bottom + sides[1])
        axes.imshow(_reduced(image, *sides), extent=extent)
        # A frame, since some images are as white as the page.
        frame: dict[str, Any] = {"fill": False, "edgecolor": FAINT, "linewidth": 0.3, "clip_on": False}
        axes.add_patch(Rectangle((left, bottom), *sides, **frame))
    axes.set(xlim=(0, width), ylim=(0, height), aspect="equal")
    axes.set_axis_off()


def _cell(count: int, columns: int, width: float, height: float) -> tuple[float, float]:
    rows = -(-count // columns)
    return (width - (columns - 1) * GAP) / columns, (height - (rows - 1) * GAP) / rows


def _scale(images: Sequence[Pixels], columns: int, width: float, height: float) -> float:
    return min(_fit(image, *_cell(len(images), columns, width, height)) for image in images)


def _fit(image: Pixels, width: float, height: float) -> float:
    """Return the scale in inches per pixel."""
    return float(min(width / image.shape[1], height / image.shape[0]))


def _reduced(image: Pixels, width: float, height: float) -> Pixels:
    sides = [max(1, round(side * PIXELS_PER_INCH)) for side in (width, height)]
    if image.shape[1] <= sides[0]:
        return image
    reduced = Image.fromarray(image, "RGB").resize((sides[0], sides[1]), Image.Resampling.LANCZOS)
    return np.asarray(reduced, dtype=np.uint8)
