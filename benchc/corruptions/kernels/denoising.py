"""What a denoiser leaves of an image that was noisy.

Source: KADID-10k's distortion 15 and R-Bench's dimension 31 run a neural denoiser. Here non-local means does
its work (Buades, Coll and Morel, 2005, OpenCV's implementation): it loses texture, smears and leaves blotches
as a network does, but invents nothing.
"""

import cv2
import numpy as np

from benchc.corruptions.fields import Bits16, draw_bits16, normal_of
from benchc.images import Pixels

# OpenCV's own.
_PATCH, _WINDOW = 7, 21
# Of the noise's standard deviation; more leaves colours without shapes, less leaves noise.
_STRENGTH = 0.8


def draw_bits(generator: np.random.Generator, height: int, width: int, **parameters: object) -> Bits16:
    """Return uint16[height, width, 3], uniform: cells of the normal distribution."""
    del parameters  # the field does not depend on the strength
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
