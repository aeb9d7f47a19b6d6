"""Sensor and circuit noise, with KADID-10k's variances.

Source: Lin, Hosu and Saupe, KADID-10k (QoMEX 2019), distortions 11 to 14; for R-Bench's dimensions 9 to 12.
Variances are those of values in [0, 1]; results are clipped and rounded. Fields are drawn as 16-bit integers.
"""

import numpy as np

from benchc.corruptions.fields import Bits16, Floats32, draw_bits16, normal_of, uniform_of
from benchc.pixels import Pixels

# BT.601 in the studio's range, where Y has 219 levels and Cb and Cr have 224: R, G and B from Y, Cb and Cr.
_FROM_YCBCR = 255 * np.array(
    [[1 / 219, 0, 1.402 / 224], [1 / 219, -0.344136 / 224, -0.714136 / 224], [1 / 219, 1.772 / 224, 0]]
)


def draw_bits(generator: np.random.Generator, height: int, width: int, **parameters: object) -> Bits16:
    """Return uint16[height, width, 3], uniform: cells of whichever distribution the kernel has."""
    del parameters  # the noise does not depend on the severity
    return draw_bits16(generator, height, width, 3)


def white_noise(image: Pixels, field: Bits16, *, variance: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with normal noise of ``variance`` added to every value."""
    noise = normal_of(field)
    noise *= np.float32(255 * np.sqrt(variance))
    return _add(image, noise)


def color_noise(image: Pixels, field: Bits16, *, variance: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with normal noise of ``variance`` added to its Y, Cb and Cr."""
    normal = normal_of(field)
    matrix = (255 * np.sqrt(variance) * _FROM_YCBCR).astype(np.float32)
    noise = np.empty_like(normal)
    for channel in range(3):
        # Plane by plane, as the last digit of a matrix product depends on the machine.
        noise[..., channel] = normal[..., 0] * matrix[channel, 0]
        for part in (1, 2):
            if matrix[channel, part]:
                noise[..., channel] += normal[..., part] * matrix[channel, part]
    return _add(image, noise)


def impulse_noise(image: Pixels, field: Bits16, *, density: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with the fraction ``density`` of its values at 0 or 255 (1:1)."""
    uniform = uniform_of(field)
    result = image.copy()
    result[uniform < np.float32(density / 2)] = 0
    result[uniform > np.float32(1 - density / 2)] = 255
    return result


def multiplicative_noise(image: Pixels, field: Bits16, *, variance: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) times 1 + n; n is uniform with mean 0 and ``variance``."""
    noise = uniform_of(field)
    noise -= np.float32(0.5)
    noise *= np.float32(np.sqrt(12 * variance))
    noise *= image
    return _add(image, noise)


def _add(image: Pixels, noise: Floats32) -> Pixels:
    noise += image
    np.rint(noise, out=noise)
    np.clip(noise, 0, 255, out=noise)
    return noise.astype(np.uint8)
