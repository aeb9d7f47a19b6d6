"""imgaug's ``imgcorruptlike``: the 19 corruptions of ImageNet-C by the released packages."""

import numpy as np
from imgaug.augmenters import imgcorruptlike as augmenters

from benchc.pixels import Pixels

_AUGMENTERS = {
    "brightness": augmenters.Brightness,
    "contrast": augmenters.Contrast,
    "saturate": augmenters.Saturate,
    "defocus_blur": augmenters.DefocusBlur,
    "gaussian_blur": augmenters.GaussianBlur,
    "glass_blur": augmenters.GlassBlur,
    "motion_blur": augmenters.MotionBlur,
    "zoom_blur": augmenters.ZoomBlur,
    "gaussian_noise": augmenters.GaussianNoise,
    "impulse_noise": augmenters.ImpulseNoise,
    "shot_noise": augmenters.ShotNoise,
    "speckle_noise": augmenters.SpeckleNoise,
    "fog": augmenters.Fog,
    "frost": augmenters.Frost,
    "snow": augmenters.Snow,
    "spatter": augmenters.Spatter,
    "jpeg_compression": augmenters.JpegCompression,
    "pixelate": augmenters.Pixelate,
    "elastic_transform": augmenters.ElasticTransform,
}


def draw_seed(
    generator: np.random.Generator, height: int, width: int, *, corruption: str, severity: int
) -> int:
    """Return a seed for imgaug, which samples its random numbers itself."""
    return int(generator.integers(2**63))


def imgcorruptlike(image: Pixels, seed: int, *, corruption: str, severity: int) -> Pixels:
    """Apply a new augmenter to ``image`` (uint8[H, W, 3], both sides at least 32).

    The augmenter depends only on ``seed``, and imgaug restores numpy's global state after the call. On small
    images, spatter may sample no drop of water (1 in 200 at 32 by 32 pixels and severity 1); the image then
    stays unchanged, where the package divides by zero and returns a black image.
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
    # Some augmenters return a read-only view of a Pillow image.
    return np.array(pixels, dtype=np.uint8)
