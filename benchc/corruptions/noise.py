"""Noises of ImageNet-C, each drawn per pixel and channel."""

from imgaug.augmenters import imgcorruptlike

from benchc.corruptions.augmenter import corrupted_by
from benchc.images import Pixels


def gaussian_noise(image: Pixels, severity: int, seed: int) -> Pixels:
    """Add normal noise of standard deviation 0.08 to 0.38."""
    return corrupted_by(imgcorruptlike.GaussianNoise, image, severity, seed)


def impulse_noise(image: Pixels, severity: int, seed: int) -> Pixels:
    """Set 3 % to 27 % of the values to black or white."""
    return corrupted_by(imgcorruptlike.ImpulseNoise, image, severity, seed)


def shot_noise(image: Pixels, severity: int, seed: int) -> Pixels:
    """Draw each value from a Poisson distribution of 60 down to 3 photons at white."""
    return corrupted_by(imgcorruptlike.ShotNoise, image, severity, seed)


def speckle_noise(image: Pixels, severity: int, seed: int) -> Pixels:
    """Add normal noise of standard deviation 0.15 to 0.6 times the value."""
    return corrupted_by(imgcorruptlike.SpeckleNoise, image, severity, seed)
