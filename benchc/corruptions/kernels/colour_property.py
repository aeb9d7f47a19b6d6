"""Corruptions that remove or invert colours.

Source: supplement of the VQA robustness benchmark, A.3.
"""

from typing import Literal

import cv2
import numpy as np
import numpy.typing as npt

from benchc.pixels import Pixels

Grey = Literal["mean", "luma"]


def inverse(image: Pixels) -> Pixels:
    """Return the negative of ``image`` (uint8[H, W, 3]): 255 minus every value."""
    return np.invert(image)


def grayscale(image: Pixels, *, grey: Grey) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) without colour, in three equal channels.

    ``grey`` is ``mean``, the truncated mean of the channels, or ``luma``, the weighted mean of
    ITU-R BT.601 as OpenCV rounds it.
    """
    return np.repeat(_grey(image, grey)[..., np.newaxis], 3, axis=2)


def grayscale_inverse(image: Pixels, *, grey: Grey) -> Pixels:
    """Return the negative of :func:`grayscale`."""
    return inverse(grayscale(image, grey=grey))


def _grey(image: Pixels, grey: Grey) -> npt.NDArray[np.uint8]:
    if grey == "luma":
        return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), dtype=np.uint8)
    # Adding three planes is several times faster than a sum over the short axis.
    total = image[..., 0].astype(np.uint16)
    total += image[..., 1]
    total += image[..., 2]
    total //= 3
    return total.astype(np.uint8)
