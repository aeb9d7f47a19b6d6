"""Pooling by imgaug: the mean or maximum of every block of pixels."""

import imgaug.augmenters as iaa

from benchc.corruptions.kernels.imgaug_call import UNUSED_SEED, augment
from benchc.pixels import Pixels


def average_pooling(image: Pixels, *, size: int) -> Pixels:
    """Return uint8[H, W, 3] whose blocks of ``size`` by ``size`` pixels are replaced by their mean."""
    return augment(iaa.AveragePooling(kernel_size=size, keep_size=True, seed=UNUSED_SEED), image)


def max_pooling(image: Pixels, *, size: int) -> Pixels:
    """Return uint8[H, W, 3] whose blocks are replaced by the maximum of each channel."""
    return augment(iaa.MaxPooling(kernel_size=size, keep_size=True, seed=UNUSED_SEED), image)
