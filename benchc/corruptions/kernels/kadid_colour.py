"""Colour corruptions: saturation, diffusion and shift.

Source: Lin, Hosu and Saupe, KADID-10k (QoMEX 2019), distortions 4, 5, 7 and 8; for R-Bench's dimensions 29,
30, 23 and 24.
"""

import math
from typing import NamedTuple

import numpy as np

from benchc.corruptions.convolution import Floats32, border_indices, gaussian_kernel, separable
from benchc.corruptions.lab import from_lab, to_lab
from benchc.pixels import Pixels

_GRADIENT_SIGMA = 4.0
_LEAST_WEIGHT = 0.1


def hsv_saturation(image: Pixels, *, factor: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with the saturation of HSV times ``factor``, hue and value kept.

    At a given hue and value each channel's distance from the value grows with saturation, so a negative
    ``factor`` gives the opposite hue, brighter than the value; clipped.
    """
    value = np.maximum(np.maximum(image[..., 0], image[..., 1]), image[..., 2]).astype(np.float32)
    result = np.empty_like(image)
    for channel in range(3):
        moved = value + np.float32(factor) * (image[..., channel] - value)
        result[..., channel] = np.clip(np.rint(moved), 0, 255)
    return result


def lab_saturation(image: Pixels, *, factor: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with the a and b of Lab times ``factor``, L kept."""
    lab = to_lab(image)
    lab[1:] *= np.float32(factor)
    return from_lab(lab)


def color_diffusion(image: Pixels, *, amount: float, sigma: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with a and b of Lab blurred and amplified, L kept.

    The blur is a Gaussian of ``sigma`` pixels; a and b are then multiplied by ``amount``.
    """
    lab = to_lab(image)
    kernel = gaussian_kernel(sigma)
    for plane in lab[1:]:
        plane[:] = separable(plane, kernel, kernel, "mirror")
        plane *= np.float32(amount)
    return from_lab(lab)


class Direction(NamedTuple):
    """A unit vector."""

    down: float
    right: float


def draw_direction(
    generator: np.random.Generator, height: int, width: int, **parameters: object
) -> Direction:
    """Return a random direction."""
    del height, width, parameters
    angle = generator.uniform(0, 2 * math.pi)
    return Direction(math.sin(angle), math.cos(angle))


def color_shift(image: Pixels, field: Direction, *, amount: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with green shifted ``amount`` pixels towards ``field``, at edges.

    The shifted green replaces the green in proportion to the image's gradient, smoothed over 4 pixels, as a
    share of its 98th percentile, between 0.1 and 1.
    """
    height, width, _ = image.shape
    down, right = round(amount * field.down), round(amount * field.right)
    rows = border_indices(height, abs(down), "mirror")[abs(down) - down :][:height]
    columns = border_indices(width, abs(right), "mirror")[abs(right) - right :][:width]
    green = image[..., 1].astype(np.float32)
    weight = _edges(image)
    weight *= green[np.ix_(rows, columns)] - green
    result = image.copy()
    result[..., 1] = np.rint(green + weight)
    return result


def _edges(image: Pixels) -> Floats32:
    grey = image[..., 0].astype(np.float32)
    grey += image[..., 1]
    grey += image[..., 2]
    slope = np.square(np.gradient(grey, axis=0))
    slope += np.square(np.gradient(grey, axis=1))
    np.sqrt(slope, out=slope)
    kernel = gaussian_kernel(_GRADIENT_SIGMA)
    smooth = separable(slope, kernel, kernel, "mirror")
    # Not the maximum, with which the weight would be 0.1 nearly everywhere.
    smooth /= max(np.float32(np.percentile(smooth, 98)), np.float32(1e-6))
    return np.clip(smooth, _LEAST_WEIGHT, 1)
