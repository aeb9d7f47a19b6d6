"""Digital corruptions of ImageNet-C, in the size-relative forms of the imagecorruptions package."""

from imgaug.augmenters import imgcorruptlike

from benchc.corruptions.augmenter import corrupted_by
from benchc.images import Pixels


def jpeg_compression(image: Pixels, severity: int, seed: int) -> Pixels:
    """Encode as JPEG of quality 25 down to 7; nothing is random."""
    return corrupted_by(imgcorruptlike.JpegCompression, image, severity, seed)


def pixelate(image: Pixels, severity: int, seed: int) -> Pixels:
    """Shrink to 0.6 down to 0.25 of the size by box averages and enlarge again; nothing is random."""
    return corrupted_by(imgcorruptlike.Pixelate, image, severity, seed)


def elastic_transform(image: Pixels, severity: int, seed: int) -> Pixels:
    """Displace pixels by a smoothed random field."""
    return corrupted_by(imgcorruptlike.ElasticTransform, image, severity, seed)
