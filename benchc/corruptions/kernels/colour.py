"""Colour changes by imgaug: inversion, gamma, shuffled channels."""

import imgaug.augmenters as iaa
import numpy as np

from benchc.corruptions.kernels.imgaug_call import UNUSED_SEED, augment, draw_seed
from benchc.corruptions.suite import Value
from benchc.pixels import Pixels

__all__ = ["channel_shuffle", "draw_seed", "draw_shuffle_seed", "gamma_contrast", "invert"]


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


def gamma_contrast(image: Pixels, seed: int, *, gamma: float, per_channel: bool) -> Pixels:
    """Return ``255 * (image / 255) ** g`` for uint8[H, W, 3]; g is ``gamma`` or ``1 / gamma``."""
    return augment(iaa.GammaContrast([gamma, 1 / gamma], per_channel=per_channel, seed=seed), image)


def draw_shuffle_seed(generator: np.random.Generator, height: int, width: int, **parameters: Value) -> int:
    """Return a seed with which imgaug changes the order of three channels.

    One seed in six does not, and the corruption would have no effect.
    """
    marked = np.arange(3, dtype=np.uint8).reshape(1, 1, 3)
    while True:
        seed = draw_seed(generator, height, width)
        if (augment(_shuffle(seed), marked) != marked).any():
            return seed


def channel_shuffle(image: Pixels, seed: int, *, weight: float) -> Pixels:
    """Return uint8[H, W, 3] blended with its copy with shuffled channels, of ``weight`` in (0, 1]."""
    augmenter = iaa.BlendAlpha(weight, foreground=_shuffle(seed), per_channel=False, seed=UNUSED_SEED)
    return augment(augmenter, image)


def _shuffle(seed: int) -> iaa.Augmenter:
    return iaa.ChannelShuffle(p=1.0, channels=None, seed=seed)
