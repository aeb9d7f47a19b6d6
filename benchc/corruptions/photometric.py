"""Photometric corruptions of ImageNet-C; nothing in them is random."""

from imgaug.augmenters import imgcorruptlike

from benchc.corruptions.augmenter import corrupted_by
from benchc.images import Pixels


def brightness(image: Pixels, severity: int, seed: int) -> Pixels:
    """Raise the value channel of HSV by 0.1 to 0.5."""
    return corrupted_by(imgcorruptlike.Brightness, image, severity, seed)


def contrast(image: Pixels, severity: int, seed: int) -> Pixels:
    """Pull every channel towards its mean, to 0.4 down to 0.05 of its spread."""
    return corrupted_by(imgcorruptlike.Contrast, image, severity, seed)


def saturate(image: Pixels, severity: int, seed: int) -> Pixels:
    """Scale the saturation of HSV: severities 1 and 2 take colour away, 3 to 5 exaggerate it."""
    return corrupted_by(imgcorruptlike.Saturate, image, severity, seed)
