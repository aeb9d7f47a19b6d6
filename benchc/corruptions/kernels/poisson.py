"""Additive Poisson noise by imgaug."""

import imgaug.augmenters as iaa

from benchc.corruptions.kernels.imgaug_call import augment, draw_seed
from benchc.pixels import Pixels

__all__ = ["draw_seed", "poisson_noise"]


def poisson_noise(image: Pixels, seed: int, *, lam: float, per_channel: bool) -> Pixels:
    """Return uint8[H, W, 3] plus Poisson numbers of mean ``lam`` grey levels, each with a random sign.

    One number for all channels of a pixel, or with ``per_channel`` one for each value.
    """
    return augment(iaa.AdditivePoissonNoise(lam=lam, per_channel=per_channel, seed=seed), image)
