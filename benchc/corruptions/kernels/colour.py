"""Colour changes: inversion and gamma by imgaug, shuffled channels."""

import imgaug.augmenters as iaa
import numpy as np

from benchc.corruptions.kernels.imgaug_call import UNUSED_SEED, augment
from benchc.pixels import Pixels


def invert(image: Pixels, *, threshold: int) -> Pixels:
    """Return uint8[H, W, 3] with every value v of at least ``threshold`` replaced by 255 - v.

    0 gives the negative; a higher threshold leaves darker values unchanged (solarisation).
    """
    augmenter = iaa.Invert(
        p=1,
        per_channel=False,
        min_value=None,
        max_value=None,
        threshold=threshold,
        invert_above_threshold=1,
        seed=UNUSED_SEED,
    )
    return augment(augmenter, image)


def gamma_contrast(image: Pixels, *, gamma: float, per_channel: bool) -> Pixels:
    """Return ``255 * (image / 255) ** gamma`` for uint8[H, W, 3]: darker where ``gamma`` is above 1."""
    return augment(iaa.GammaContrast(gamma, per_channel=per_channel, seed=UNUSED_SEED), image)


def channel_shuffle(image: Pixels, *, order: str) -> Pixels:
    """Return uint8[H, W, 3] whose red, green and blue are the channels that ``order`` names, such as BGR."""
    return np.ascontiguousarray(image[..., ["RGB".index(channel) for channel in order]])
