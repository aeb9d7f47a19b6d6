"""Low-level features of an image: light, contrast, colour, sharpness and spatial information."""

import numpy as np
import numpy.typing as npt

from benchc.pixels import Pixels

Floats = npt.NDArray[np.float64]

# Their names in figures.
FEATURES = {
    "light": "light",
    "contrast": "contrast",
    "colour": "colour",
    "sharpness": "sharpness (low: blur)",
    "spatial_information": "spatial information",
}
LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601


def image_features(image: Pixels) -> dict[str, float]:
    """Return the features of ``image``, uint8[H, W, 3], by the names of FEATURES.

    ``light`` and ``contrast`` are the mean and the standard deviation of luma (BT.601, in [0, 255]),
    ``colour`` is colourfulness (Hasler and Suesstrunk 2003), ``sharpness`` is log10 of 1 plus the variance
    of the Laplacian of luma, low where the image is blurred, and ``spatial_information`` is the standard
    deviation of the magnitude of luma's Sobel gradient (ITU-T P.910). Edges are repeated beyond the rim.
    """
    luma = image @ LUMA
    padded = np.pad(luma, 1, mode="edge")
    laplacian = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:] - 4 * luma
    gradient = np.hypot(_sobel(padded), _sobel(padded.T).T)
    return {
        "light": float(luma.mean()),
        "contrast": float(luma.std()),
        "colour": _colourfulness(image),
        "sharpness": float(np.log10(1 + laplacian.var())),
        "spatial_information": float(gradient.std()),
    }


def _sobel(padded: Floats) -> Floats:
    """Return the gradient along columns, of an array that is padded by 1."""
    smooth = padded[:-2] + 2 * padded[1:-1] + padded[2:]
    return np.asarray(smooth[:, 2:] - smooth[:, :-2])


def _colourfulness(image: Pixels) -> float:
    red, green, blue = np.moveaxis(image.astype(np.float64), 2, 0)
    opponents = np.stack([red - green, (red + green) / 2 - blue])
    deviations, means = opponents.std(axis=(1, 2)), opponents.mean(axis=(1, 2))
    return float(np.hypot(*deviations) + 0.3 * np.hypot(*means))
