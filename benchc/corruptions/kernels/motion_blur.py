"""Motion blur of ImageNet-C, as in imagecorruptions, which does not use ImageMagick."""

import numpy as np

from benchc.corruptions.smear import line_taps, smear_bias, smear_image
from benchc.pixels import Pixels

MAX_ANGLE = 45.0


def motion_blur(image: Pixels, field: float, *, radius: int, sigma: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) smeared along a line at ``field`` degrees to its rows.

    The smear is half a Gaussian of ``sigma`` pixels, of 2 * radius + 1 taps (Michaelis et al., 2019).
    Values are truncated, which lowers some flat areas by one level.
    """
    height, width, _ = image.shape
    line = line_taps(radius, sigma, field, height, width)
    return smear_image(image, line, smear_bias(radius, sigma))


def draw_motion_angle(
    generator: np.random.Generator, height: int, width: int, *, radius: int, sigma: float
) -> float:
    """Return an angle in degrees, uniform between -45 and 45."""
    return float(generator.uniform(-MAX_ANGLE, MAX_ANGLE))
