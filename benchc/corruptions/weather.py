"""Weather of ImageNet-C. Frost's pictures are those of the installed imagecorruptions package."""

import numpy as np
from imgaug.augmenters import imgcorruptlike

from benchc.corruptions.augmenter import corrupted_by
from benchc.images import Pixels


def fog(image: Pixels, severity: int, seed: int) -> Pixels:
    """Blend with a random cloud (plasma fractal)."""
    return corrupted_by(imgcorruptlike.Fog, image, severity, seed)


def frost(image: Pixels, severity: int, seed: int) -> Pixels:
    """Blend with a random cut-out of one of six photographs of frost."""
    return corrupted_by(imgcorruptlike.Frost, image, severity, seed)


def snow(image: Pixels, severity: int, seed: int) -> Pixels:
    """Whiten, and add flakes blurred along their fall."""
    return corrupted_by(imgcorruptlike.Snow, image, severity, seed)


def spatter(image: Pixels, severity: int, seed: int) -> Pixels:
    """Splash drops of water (severities 1 to 3) or mud (4 and 5) on the lens.

    A small image may be hit by no drop at all, one in 200 of 32 by 32 pixels at severity 1: it stays as it
    is. Left to itself, the package divides by zero there and gives a black image.
    """
    try:
        with np.errstate(invalid="raise"):
            return corrupted_by(imgcorruptlike.Spatter, image, severity, seed)
    except FloatingPointError:
        return image.copy()
