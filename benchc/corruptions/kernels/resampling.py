"""Resampling: low resolution, and clock jitter.

Source: R-Bench's dimensions 6 and 13; KADID-10k's distortions 21 and 19.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from PIL import Image

from benchc.corruptions.fields import Floats32, draw_normal_field
from benchc.pixels import Pixels

Array = npt.NDArray[Any]


def resolution_limit(image: Pixels, *, scale: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) downscaled to ``scale`` (box) and upscaled (bicubic)."""
    height, width, _ = image.shape
    small = (max(1, round(width * scale)), max(1, round(height * scale)))
    shrunk = Image.fromarray(image).resize(small, Image.Resampling.BOX)
    return np.array(shrunk.resize((width, height), Image.Resampling.BICUBIC))


def draw_displacement(
    generator: np.random.Generator, height: int, width: int, **parameters: object
) -> Floats32:
    """Return float32[2, height, width], standard normal: displacements down and to the right."""
    del parameters  # the noise does not depend on the severity
    return draw_normal_field(generator, 2 * height, width).reshape(2, height, width)


def clock_jitter(image: Pixels, field: Floats32, *, std: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with every pixel sampled ``std`` * ``field`` pixels from its place.

    Bilinear between pixels; edges are repeated.
    """
    result = np.empty_like(image)
    _sample(image, field, std, result)
    return result


@njit(cache=True, nogil=True)
def _sample(image: Array, field: Array, std: float, result: Array) -> None:
    height, width, _ = image.shape
    unit = np.float32(std)
    for y in range(height):
        for x in range(width):
            down = min(max(np.float32(y) + unit * field[0, y, x], np.float32(0)), np.float32(height - 1))
            right = min(max(np.float32(x) + unit * field[1, y, x], np.float32(0)), np.float32(width - 1))
            top, left = int(down), int(right)
            below, beside = min(top + 1, height - 1), min(left + 1, width - 1)
            down -= np.float32(top)
            right -= np.float32(left)
            for channel in range(3):
                upper = image[top, left, channel] * (1 - right) + image[top, beside, channel] * right
                lower = image[below, left, channel] * (1 - right) + image[below, beside, channel] * right
                result[y, x, channel] = np.uint8(upper * (1 - down) + lower * down + 0.5)
