"""Gaussian blur of ImageNet-C; sigma is in pixels, so larger images are blurred relatively less."""

from benchc.corruptions.convolution import gaussian_bias, gaussian_kernel, separable_image
from benchc.pixels import Pixels


def gaussian_blur(image: Pixels, *, sigma: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) convolved with a Gaussian of ``sigma`` pixels, cut off at 4 sigma.

    Edges are repeated, and values truncated (Hendrycks and Dietterich, 2019), which lowers some flat areas by
    one level.
    """
    return separable_image(image, gaussian_kernel(sigma), "nearest", gaussian_bias(sigma))
