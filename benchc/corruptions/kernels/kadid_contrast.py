"""Excessive sharpening, and changed contrast.

Source: Lin, Hosu and Saupe, KADID-10k (QoMEX 2019), distortions 24 and 25; for R-Bench's dimensions 32
and 33.
"""

import numpy as np

from benchc.corruptions.convolution import gaussian_kernel, separable
from benchc.corruptions.lab import from_lab, to_lab
from benchc.pixels import Pixels


def sharpness(image: Pixels, *, amount: float, sigma: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with unsharp masking of the L of Lab.

    ``amount`` times the difference between L and its Gaussian blur of ``sigma`` pixels is added to L.
    """
    lab = to_lab(image)
    kernel = gaussian_kernel(sigma)
    detail = lab[0] - separable(lab[0], kernel, kernel, "nearest")
    lab[0] += np.float32(amount) * detail
    np.clip(lab[0], 0, 100, out=lab[0])
    return from_lab(lab)


def draw_sign(generator: np.random.Generator, height: int, width: int, **parameters: object) -> int:
    """Return -1 or 1 with equal probability."""
    del height, width, parameters
    return 1 if generator.random() < 0.5 else -1


def contrast_change(image: Pixels, field: int, *, amount: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with more contrast around middle grey (``field`` 1) or less (-1).

    Every value goes through the cubic that keeps black, middle grey and white, and takes the quarters of the
    range 1/4 and 3/4 to 1/4 - ``amount`` / 4 and 3/4 + ``amount`` / 4, or the other way; clipped.
    """
    value = np.arange(256) / 255
    bent = value + field * amount * 16 / 3 * value * (1 - value) * (value - 0.5)
    return np.clip(np.rint(255 * bent), 0, 255).astype(np.uint8)[image]
