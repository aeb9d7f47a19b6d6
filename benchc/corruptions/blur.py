"""Blurs of ImageNet-C; radii are absolute pixels, so a large image is blurred relatively less."""

from imgaug.augmenters import imgcorruptlike

from benchc.corruptions.augmenter import corrupted_by
from benchc.images import Pixels


def defocus_blur(image: Pixels, severity: int, seed: int) -> Pixels:
    """Convolve with a smoothed disk of radius 3 to 10."""
    return corrupted_by(imgcorruptlike.DefocusBlur, image, severity, seed)


def gaussian_blur(image: Pixels, severity: int, seed: int) -> Pixels:
    """Convolve with a Gaussian of standard deviation 1 to 6."""
    return corrupted_by(imgcorruptlike.GaussianBlur, image, severity, seed)


def glass_blur(image: Pixels, severity: int, seed: int) -> Pixels:
    """Blur, copy pixels from up to 4 away in random directions, blur again."""
    return corrupted_by(imgcorruptlike.GlassBlur, image, severity, seed)


def motion_blur(image: Pixels, severity: int, seed: int) -> Pixels:
    """Smear along a random direction within 45 degrees of the horizontal."""
    return corrupted_by(imgcorruptlike.MotionBlur, image, severity, seed)


def zoom_blur(image: Pixels, severity: int, seed: int) -> Pixels:
    """Average the image with its enlargements of up to 1.3; nothing is random."""
    return corrupted_by(imgcorruptlike.ZoomBlur, image, severity, seed)
