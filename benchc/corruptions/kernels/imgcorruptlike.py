"""imgaug's ``imgcorruptlike``: the 19 corruptions of ImageNet-C by the released packages."""

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
