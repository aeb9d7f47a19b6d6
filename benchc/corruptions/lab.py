"""Convert between sRGB and CIE Lab or linear light, in float32.

sRGB: IEC 61966-2-1. Lab: CIE 15, white point D65, 2 degree observer.
"""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from benchc.pixels import Pixels

Array = npt.NDArray[Any]
Floats32 = npt.NDArray[np.float32]

_CODES = 1 << 16
# Rows: X, Y and Z relative to the white point, from linear R, G and B.
_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_TO_XYZ /= _TO_XYZ.sum(axis=1, keepdims=True)
_FROM_XYZ = np.linalg.inv(_TO_XYZ)
# Below EDGE the cube root is replaced by its tangent.
_EDGE = (6 / 29) ** 3
_SLOPE = (29 / 6) ** 2 / 3
_OFFSET = 4 / 29


def to_linear(image: Pixels) -> Floats32:
    """Return the linear light of ``image`` (uint8, sRGB) as float32 of its shape, white being 1."""
    return _linear_of_levels()[image]


def from_linear(light: Floats32) -> Pixels:
    """Return ``light`` (float32, white being 1) as sRGB, uint8 of its shape, clipped and rounded."""
    codes = np.clip(light, 0, 1)
    codes *= np.float32(_CODES - 1)
    codes += np.float32(0.5)
    return np.asarray(_levels_of_codes()[codes.astype(np.uint16)])


def to_lab(image: Pixels) -> Floats32:
    """Return ``image`` (uint8[H, W, 3], sRGB) as float32[3, H, W]: L in 0 to 100, a and b around 0."""
    height, width, _ = image.shape
    lab = np.empty((3, height, width), np.float32)
    _fill_lab(image, _linear_of_levels(), _TO_XYZ.astype(np.float32), lab)
    return lab


def from_lab(lab: Floats32) -> Pixels:
    """Return ``lab`` (float32[3, H, W]) as sRGB, uint8[H, W, 3]; colours outside sRGB are clipped."""
    _, height, width = lab.shape
    image = np.empty((height, width, 3), np.uint8)
    _fill_image(lab, _FROM_XYZ.astype(np.float32), _levels_of_codes(), image)
    return image


@cache
def _linear_of_levels() -> Floats32:
    value = np.arange(256) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear.astype(np.float32))


@cache
def _levels_of_codes() -> npt.NDArray[np.uint8]:
    # 16 bits of linear light resolve the steepest part of the curve, at black, to a twentieth of a level.
    light = np.arange(_CODES) / (_CODES - 1)
    value = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.asarray(np.rint(255 * value).astype(np.uint8))


@njit(cache=True, nogil=True)
def _fill_lab(image: Array, linear: Array, matrix: Array, lab: Array) -> None:
    height, width, _ = image.shape
    root = np.empty(3, np.float32)
    for y in range(height):
        for x in range(width):
            red, green, blue = linear[image[y, x, 0]], linear[image[y, x, 1]], linear[image[y, x, 2]]
            for i in range(3):
                t = matrix[i, 0] * red + matrix[i, 1] * green + matrix[i, 2] * blue
                if t > _EDGE:
                    # In float64, so that rounding removes a last digit that depends on the system's library.
                    root[i] = np.cbrt(np.float64(t))
                else:
                    root[i] = _SLOPE * t + _OFFSET
            lab[0, y, x] = np.float32(116) * root[1] - np.float32(16)
            lab[1, y, x] = np.float32(500) * (root[0] - root[1])
            lab[2, y, x] = np.float32(200) * (root[1] - root[2])


@njit(cache=True, nogil=True)
def _fill_image(lab: Array, matrix: Array, levels: Array, image: Array) -> None:
    _, height, width = lab.shape
    top = np.float32(levels.size - 1)
    tristimulus = np.empty(3, np.float32)
    for y in range(height):
        for x in range(width):
            root = (lab[0, y, x] + np.float32(16)) / np.float32(116)
            tristimulus[0] = root + lab[1, y, x] / np.float32(500)
            tristimulus[1] = root
            tristimulus[2] = root - lab[2, y, x] / np.float32(200)
            for i in range(3):
                t = tristimulus[i]
                if t > np.float32(6 / 29):
                    tristimulus[i] = t * t * t
                else:
                    tristimulus[i] = (t - np.float32(_OFFSET)) / np.float32(_SLOPE)
            for i in range(3):
                light = (
                    matrix[i, 0] * tristimulus[0]
                    + matrix[i, 1] * tristimulus[1]
                    + matrix[i, 2] * tristimulus[2]
                )
                code = min(max(light, np.float32(0)), np.float32(1)) * top
                image[y, x, i] = levels[np.int64(code + np.float32(0.5))]
