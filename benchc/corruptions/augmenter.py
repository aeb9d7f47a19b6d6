"""The kernels' way to imgaug: its ``imgcorruptlike`` augmenters, each call with a severity and a seed."""

from typing import Protocol

from benchc.images import Pixels


class Augmenter(Protocol):
    """An imgaug augmenter, of which the kernels use one method."""

    def augment_image(self, image: Pixels) -> Pixels: ...


class AugmenterClass(Protocol):
    """A class of ``imgaug.augmenters.imgcorruptlike``."""

    def __call__(self, *, severity: int, seed: int) -> Augmenter: ...


def corrupted_by(augmenter: AugmenterClass, image: Pixels, severity: int, seed: int) -> Pixels:
    """Return ``image`` as a fresh augmenter makes it: uint8[H, W, 3] in and out, both sides at least 32.

    A fresh augmenter draws from ``seed`` alone, and imgaug puts numpy's global state back after the call.
    """
    return augmenter(severity=severity, seed=seed).augment_image(image)
