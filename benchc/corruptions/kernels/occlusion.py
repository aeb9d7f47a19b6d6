"""Occlusion by imgaug: one square, or many small rectangles."""

import imgaug.augmenters as iaa

from benchc.corruptions.kernels.imgaug_call import augment, draw_seed
from benchc.pixels import Pixels

__all__ = ["coarse_dropout", "cutout", "draw_seed"]


def cutout(image: Pixels, seed: int, *, areas: int, size: float, squared: bool, fill: int) -> Pixels:
    """Return uint8[H, W, 3] with ``areas`` areas set to the grey level ``fill``.

    Their centres are uniform over the image, and an area may reach over its border. ``size`` is the share of
    the image's sides, of the shorter one where ``squared``.
    """
    augmenter = iaa.Cutout(
        nb_iterations=areas,
        position="uniform",
        size=size,
        squared=squared,
        fill_mode="constant",
        cval=fill,
        fill_per_channel=False,
        seed=seed,
    )
    return augment(augmenter, image)


def coarse_dropout(
    image: Pixels, seed: int, *, probability: float, cells: int, min_size: int, per_channel: bool
) -> Pixels:
    """Return uint8[H, W, 3] with each cell of a grid set to 0 with ``probability``.

    The grid has ``cells`` cells along the height and along the width, at least ``min_size``.
    """
    augmenter = iaa.CoarseDropout(
        p=probability, size_px=cells, per_channel=per_channel, min_size=min_size, seed=seed
    )
    return augment(augmenter, image)
