"""Denoising artefacts.

Source: KADID-10k's distortion 15 and R-Bench's dimension 31, which use a neural denoiser. Here it is replaced
by non-local means (Buades, Coll and Morel, 2005, in OpenCV), which also loses texture and leaves blotches,
but invents no detail.
"""

import cv2
import numpy as np

from benchc.corruptions.fields import Bits16, draw_bits16, normal_of
from benchc.pixels import Pixels

# OpenCV's default.
_PATCH, _WINDOW = 7, 21
# Times the noise's standard deviation; more removes shapes, less leaves noise.
_STRENGTH = 0.8


def draw_bits(generator: np.random.Generator, height: int, width: int, **parameters: object) -> Bits16:
    """Return uint16[height, width, 3], uniform: cells of the normal distribution."""
    del parameters  # the noise does not depend on the severity
    return draw_bits16(generator, height, width, 3)


def cnn_denoise(image: Pixels, field: Bits16, *, variance: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with normal noise of ``variance`` (of values in [0, 1]), denoised."""
    deviation = 255 * float(np.sqrt(variance))
    noisy = normal_of(field)
    noisy *= np.float32(deviation)
    noisy += image
    levels = np.clip(np.rint(noisy), 0, 255).astype(np.uint8)
    strength = _STRENGTH * deviation
    denoised = cv2.fastNlMeansDenoisingColored(levels, None, strength, strength, _PATCH, _WINDOW)
    return np.asarray(denoised, np.uint8)
