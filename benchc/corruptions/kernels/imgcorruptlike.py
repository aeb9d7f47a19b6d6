"""imgaug's ``imgcorruptlike``: the 19 corruptions of ImageNet-C as the released packages make them."""

import numpy as np
from imgaug.augmenters import imgcorruptlike as peer

from benchc.images import Pixels

_AUGMENTERS = {
    "brightness": peer.Brightness,
    "contrast": peer.Contrast,
    "saturate": peer.Saturate,
    "defocus_blur": peer.DefocusBlur,
    "gaussian_blur": peer.GaussianBlur,
    "glass_blur": peer.GlassBlur,
    "motion_blur": peer.MotionBlur,
    "zoom_blur": peer.ZoomBlur,
    "gaussian_noise": peer.GaussianNoise,
    "impulse_noise": peer.ImpulseNoise,
    "shot_noise": peer.ShotNoise,
    "speckle_noise": peer.SpeckleNoise,
    "fog": peer.Fog,
    "frost": peer.Frost,
    "snow": peer.Snow,
    "spatter": peer.Spatter,
    "jpeg_compression": peer.JpegCompression,
    "pixelate": peer.Pixelate,
    "elastic_transform": peer.ElasticTransform,
}


def draw_seed(
    generator: np.random.Generator, height: int, width: int, *, corruption: str, severity: int
) -> int:
    """Return a seed for imgaug, which draws its random numbers itself."""
    return int(generator.integers(2**63))


def imgcorruptlike(image: Pixels, seed: int, *, corruption: str, severity: int) -> Pixels:
    """Return ``image`` as a fresh augmenter makes it: uint8[H, W, 3], both sides at least 32.

    A fresh augmenter draws from ``seed`` alone, and imgaug puts numpy's global state back after the call. On
    a small image, spatter's water may draw no drop, one in 200 of 32 by 32 pixels at severity 1: the image
    stays as it is. Left to itself, the package divides by zero there and gives a black image.
    """
    augmenter = _AUGMENTERS[corruption](severity=severity, seed=seed)
    if corruption != "spatter":
        return _result(augmenter.augment_image(image))
    try:
        with np.errstate(invalid="raise"):
            return _result(augmenter.augment_image(image))
    except FloatingPointError:
        return image.copy()


def _result(pixels: Pixels) -> Pixels:
    # Some augmenters give a read-only view of a Pillow image.
    return np.array(pixels, dtype=np.uint8)
