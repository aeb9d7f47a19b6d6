"""Texture changes by imgaug: edges, sharpening, cartoon."""

import cv2
import imgaug.augmenters as iaa
import numpy as np

from benchc.corruptions.kernels.imgaug_call import UNUSED_SEED, augment
from benchc.corruptions.mean_shift import mean_shift
from benchc.pixels import Pixels

# Of the longer side in pixels, below which imgaug segments with smaller windows.
SMALL = 400


def canny_edge(
    image: Pixels, *, alpha: float, lower: int, upper: int, sobel_size: int, background: int, edge: int
) -> Pixels:
    """Return uint8[H, W, 3] blended with the map of its edges, which has the weight ``alpha`` in (0, 1].

    ``lower`` and ``upper`` are the two thresholds of Canny's hysteresis on the gradient of the grey image;
    ``sobel_size`` is the side of the gradient's filter (3, 5 or 7). The map has the grey levels
    ``background`` and ``edge``.
    """
    augmenter = iaa.Canny(
        alpha=alpha,
        hysteresis_thresholds=([lower], [upper]),
        sobel_kernel_size=sobel_size,
        colorizer=iaa.RandomColorsBinaryImageColorizer(color_true=edge, color_false=background),
        seed=UNUSED_SEED,
    )
    return augment(augmenter, image)


def sharpen(image: Pixels, *, alpha: float, lightness: float) -> Pixels:
    """Return uint8[H, W, 3] blended with its sharpened copy, which has the weight ``alpha`` in (0, 1].

    The sharpened copy is the 3 x 3 convolution by -1 around a centre of ``8 + lightness``.
    """
    return augment(iaa.Sharpen(alpha=alpha, lightness=lightness, seed=UNUSED_SEED), image)


def cartoon(
    image: Pixels, *, blur_size: int, segmentation_size: float, saturation: float, edge_prevalence: float
) -> Pixels:
    """Return uint8[H, W, 3] in flat areas of strong colour with black outlines.

    A median filter of side ``blur_size``, mean-shift segmentation with windows scaled by
    ``segmentation_size``, Canny's or Laplacian edges, more of them with a higher ``edge_prevalence``, and
    the saturation times ``saturation``. imgaug chooses windows and edges by whether the longer side is under
    400 pixels.
    """
    small = max(image.shape[:2]) < SMALL
    radius, colour_radius = (int(each * segmentation_size) for each in ((10, 20) if small else (15, 40)))
    # As imgaug begins, which is several times slower and has the same pixels.
    blurred = cv2.medianBlur(image, blur_size | 1) if blur_size > 1 else image
    augmenter = iaa.Cartoon(
        blur_ksize=1,
        segmentation_size=0,
        saturation=saturation,
        edge_prevalence=edge_prevalence,
        seed=UNUSED_SEED,
    )
    # Where 90 % of a large image are flat, imgaug divides 0 by 0, and then correctly finds no edges.
    with np.errstate(invalid="ignore"):
        return augment(augmenter, mean_shift(blurred, radius, colour_radius))
