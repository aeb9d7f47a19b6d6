"""Gaussian blur of ImageNet-C; sigma is in absolute pixels, so a large image is blurred relatively less."""

from benchc.corruptions.convolution import gaussian_bias, gaussian_kernel, separable_image
from benchc.images import Pixels


def gaussian_blur(image: Pixels, *, sigma: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) convolved with a Gaussian of ``sigma`` pixels, cut off at 4 sigma.

    The image's edge goes on beyond it, and values are truncated (Hendrycks and Dietterich, 2019), which takes
    a level off some areas of one colour.
    """
    return separable_image(image, gaussian_kernel(sigma), "nearest", gaussian_bias(sigma))
