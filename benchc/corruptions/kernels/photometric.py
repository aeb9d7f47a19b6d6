"""Brightness, contrast and saturation, in closed form and without randomness.

Defined by Hendrycks and Dietterich (2019), as in imagecorruptions: values are in [0, 1], and the result is
truncated, not rounded, to integer grey levels. In HSV, with V the largest and m the
smallest channel of a pixel, hue and V being kept, a new saturation S' moves a channel x to
V - S' V (V - x) / (V - m); with hue and saturation kept, a new value V' moves it to V' x / V.
"""

from functools import cache

import numpy as np
import numpy.typing as npt
from numba import njit

from benchc.corruptions.fields import Floats32
from benchc.pixels import Pixels


def brightness(image: Pixels, *, shift: float) -> Pixels:
    """Return ``image`` with ``shift`` added to the V of HSV, which is clipped to [0, 1]: uint8[H, W, 3] both.

    Black has no hue and becomes grey.
    """
    result = np.empty_like(image)
    _brighten(image.reshape(-1, 3), _brightened(shift), result.reshape(-1, 3))
    return result


def saturate(image: Pixels, *, factor: float, shift: float) -> Pixels:
    """Return ``image`` with clip(``factor`` S + ``shift``, 0, 1) for the saturation S: uint8[H, W, 3] both.

    Grey has the hue of red, which a positive ``shift`` makes visible.
    """
    result = np.empty_like(image)
    ratios, lows = _saturated(factor, shift)
    _saturate(image.reshape(-1, 3), ratios, lows, result.reshape(-1, 3))
    return result


def contrast(image: Pixels, *, factor: float) -> Pixels:
    """Return ``image`` with each channel's distance from its mean times ``factor``: uint8[H, W, 3] both."""
    result = np.empty_like(image)
    pixels = image.reshape(-1, 3)
    means = _sums(pixels) / (255 * len(pixels))
    levels = (np.arange(256) / 255)[:, None]
    table = (np.clip((levels - means) * factor + means, 0, 1) * 255).astype(np.uint8)
    _look_up(pixels, table, result.reshape(-1, 3))
    return result


@cache
def _brightened(shift: float) -> Pixels:
    """Return the new level of a channel by its pixel's largest level and its own: uint8[256, 256]."""
    largest, own, saturation = _largest_and_smallest()
    value = np.clip(largest + shift, 0, 1)
    return _levels(np.where(own == largest, value, value * (1 - saturation)))


@cache
def _saturated(factor: float, shift: float) -> tuple[Floats32, Pixels]:
    """Return, by a pixel's largest and smallest level, S' / S and the new smallest level: both [256, 256]."""
    largest, _, saturation = _largest_and_smallest()
    new = np.clip(saturation * factor + shift, 0, 1)
    ratio = np.divide(new, saturation, out=np.zeros_like(new), where=saturation > 0)
    return ratio.astype(np.float32), _levels(largest * (1 - new))


def _largest_and_smallest() -> tuple[npt.NDArray[np.float64], ...]:
    """Return V, m and S for all pairs of levels, each [256, 256], V down; S is 0 where m is above V."""
    largest, smallest = np.meshgrid(np.arange(256) / 255, np.arange(256) / 255, indexing="ij")
    saturation = np.divide(largest - smallest, largest, out=np.zeros_like(largest), where=largest > smallest)
    return largest, smallest, saturation


def _levels(values: npt.NDArray[np.float64]) -> Pixels:
    return (np.clip(values, 0, 1) * 255).astype(np.uint8)


@njit(cache=True, nogil=True)
def _brighten(pixels: Pixels, table: Pixels, result: Pixels) -> None:
    for i in range(len(pixels)):
        r, g, b = pixels[i, 0], pixels[i, 1], pixels[i, 2]
        largest = max(r, g, b)
        result[i, 0] = table[largest, r]
        result[i, 1] = table[largest, g]
        result[i, 2] = table[largest, b]


@njit(cache=True, nogil=True)
def _saturate(pixels: Pixels, ratios: Floats32, lows: Pixels, result: Pixels) -> None:
    for i in range(len(pixels)):
        r, g, b = pixels[i, 0], pixels[i, 1], pixels[i, 2]
        largest, smallest = max(r, g, b), min(r, g, b)
        low = lows[largest, smallest]
        if largest == smallest:
            result[i, 0], result[i, 1], result[i, 2] = largest, low, low
            continue
        ratio, top = ratios[largest, smallest], np.float32(largest)
        for channel in range(3):
            value = pixels[i, channel]
            moved = np.uint8(max(np.float32(0), top - ratio * (top - np.float32(value))))
            result[i, channel] = low if value == smallest else moved


@njit(cache=True, nogil=True)
def _sums(pixels: Pixels) -> npt.NDArray[np.int64]:
    r, g, b = 0, 0, 0
    for i in range(len(pixels)):
        r += pixels[i, 0]
        g += pixels[i, 1]
        b += pixels[i, 2]
    return np.array([r, g, b])


@njit(cache=True, nogil=True)
def _look_up(pixels: Pixels, table: Pixels, result: Pixels) -> None:
    for i in range(len(pixels)):
        result[i, 0] = table[pixels[i, 0], 0]
        result[i, 1] = table[pixels[i, 1], 1]
        result[i, 2] = table[pixels[i, 2], 2]
