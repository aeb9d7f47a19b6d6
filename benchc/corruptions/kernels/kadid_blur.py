"""Blurs with the kernels of KADID-10k's first group: Gaussian, disc and line, all in pixels.

Source: Lin, Hosu and Saupe, KADID-10k (QoMEX 2019), distortions 1 to 3; for R-Bench's dimensions 28, 5 and 1.
Values are rounded; edges are repeated.
"""

import math

import numpy as np
import numpy.typing as npt

from benchc.corruptions.convolution import gaussian_kernel, separable
from benchc.corruptions.smear import Line, smear
from benchc.pixels import Pixels

# Subpixels per side, for the covered area of each pixel of a disc or line.
_PARTS = 8


def gaussian_filter(image: Pixels, *, sigma: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) filtered by a Gaussian of ``sigma`` pixels."""
    kernel = gaussian_kernel(sigma)
    result = np.empty_like(image)
    for channel in range(3):
        plane = separable(image[..., channel].astype(np.float32), kernel, kernel, "nearest")
        result[..., channel] = np.rint(plane)
    return result


def lens_blur(image: Pixels, *, radius: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) averaged over a disc of ``radius`` pixels."""
    radius = max(radius, 0.5)  # no pixel is smaller
    reach = math.ceil(radius)
    parts = _parts(reach)
    inside = np.add.outer(parts**2, parts**2) <= radius**2
    return spread(image, _taps(_covered(inside)))


def draw_direction(generator: np.random.Generator, height: int, width: int, **parameters: object) -> float:
    """Return a direction in radians, uniform in [0, pi)."""
    del height, width, parameters  # all directions are equally likely
    return float(generator.uniform(0, math.pi))


def motion_blur(image: Pixels, field: float, *, length: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) averaged along a line of ``length`` pixels.

    ``field`` is its direction in radians, 0 being along the rows. The line is one pixel wide; each pixel
    is weighted by the area that the line covers.
    """
    length = max(length, 1.0)  # no pixel is shorter
    parts = _parts(math.ceil(length / 2) + 1)
    down, right = math.sin(field), math.cos(field)
    along = np.add.outer(parts * down, parts * right)
    across = np.add.outer(parts * right, -parts * down)
    return spread(image, _taps(_covered((np.abs(along) <= length / 2) & (np.abs(across) <= 0.5))))


def spread(image: Pixels, taps: Line) -> Pixels:
    """Return the rounded sum of shifted copies of ``image`` (uint8[H, W, 3]), given by ``taps``."""
    result = np.empty_like(image)
    for channel in range(3):
        result[..., channel] = np.rint(smear(image[..., channel].astype(np.float32), taps))
    return result


def _parts(reach: int) -> npt.NDArray[np.float64]:
    """Return the centres of the parts of the pixels -reach to reach, in pixels."""
    count = (2 * reach + 1) * _PARTS
    return (np.arange(count) + 0.5) / _PARTS - count / _PARTS / 2


def _covered(inside: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    side = inside.shape[0] // _PARTS
    return np.asarray(inside.reshape(side, _PARTS, side, _PARTS).mean(axis=(1, 3)))


def _taps(weights: npt.NDArray[np.float64]) -> Line:
    rows, columns = np.nonzero(weights)
    middle = weights.shape[0] // 2
    taken = weights[rows, columns]
    return Line(rows - middle, columns - middle, (taken / taken.sum()).astype(np.float32))
