"""Affine maps about the centre of the image by imgaug: scaling, shearing, rotation."""

import imgaug.augmenters as iaa

from benchc.corruptions.kernels.imgaug_call import UNUSED_SEED, augment, draw_seed
from benchc.pixels import Pixels

__all__ = ["draw_seed", "rotate", "scale", "shear"]


def scale(image: Pixels, *, axes: str, factor: float, order: int, mode: str, cval: int) -> Pixels:
    """Return uint8[H, W, 3] scaled by ``factor`` along ``axes``, which is ``x``, ``y`` or ``xy``.

    The image keeps its size: an enlarged one is cropped, a shrunk one gets a border of ``cval`` (with
    ``mode`` constant). ``order`` 1 is bilinear.
    """
    factors = dict.fromkeys(axes, factor)
    return augment(iaa.Affine(scale=factors, order=order, mode=mode, cval=cval, seed=UNUSED_SEED), image)


def shear(image: Pixels, seed: int, *, axes: str, degrees: float, order: int, mode: str, cval: int) -> Pixels:
    """Return uint8[H, W, 3] sheared by ``degrees`` along ``axes`` (``x``, ``y`` or ``xy``).

    The sign is random, independently for each axis. Size, ``order``, ``mode`` and ``cval`` are as in
    :func:`scale`.
    """
    angles = {axis: [-degrees, degrees] for axis in axes}
    return augment(iaa.Affine(shear=angles, order=order, mode=mode, cval=cval, seed=seed), image)


def rotate(image: Pixels, seed: int, *, degrees: float, order: int, mode: str, cval: int) -> Pixels:
    """Return uint8[H, W, 3] rotated by ``degrees`` in a random direction.

    Size, ``order``, ``mode`` and ``cval`` are as in :func:`scale`.
    """
    return augment(iaa.Rotate([-degrees, degrees], order=order, mode=mode, cval=cval, seed=seed), image)
