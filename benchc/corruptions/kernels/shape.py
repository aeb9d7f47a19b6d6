"""Shape changes by imgaug: swapped cells, and a warped grid."""

import warnings

import imgaug.augmenters as iaa
import numpy as np

from benchc.corruptions.kernels.imgaug_call import augment, draw_seed
from benchc.pixels import Pixels

__all__ = ["draw_moving_seed", "draw_seed", "jigsaw", "piecewise_affine"]


def draw_moving_seed(
    generator: np.random.Generator, height: int, width: int, *, rows: int, columns: int, max_steps: int
) -> int:
    """Return a seed with which imgaug moves a cell; of 3 x 3 cells and one step, 30 % of the seeds do not."""
    cells = np.arange(rows * columns, dtype=np.uint8).reshape(rows, columns, 1)
    while True:
        seed = draw_seed(generator, height, width)
        if (jigsaw(cells, seed, rows=rows, columns=columns, max_steps=max_steps) != cells).any():
            return seed


def jigsaw(image: Pixels, seed: int, *, rows: int, columns: int, max_steps: int) -> Pixels:
    """Return uint8[H, W, 3] cut into cells that are swapped with neighbours, each up to ``max_steps`` times.

    imgaug pads the image with black to a multiple of the cells. Here, the remainder of the division, less
    than one pixel per cell, stays unchanged at the right and lower border.
    """
    height, width, _ = image.shape
    inner = (slice(height // rows * rows), slice(width // columns * columns))
    result = image.copy()
    augmenter = iaa.Jigsaw(rows, columns, max_steps=max_steps, allow_pad=False, seed=seed)
    result[inner] = augment(augmenter, np.ascontiguousarray(image[inner]))
    return result


def piecewise_affine(
    image: Pixels, seed: int, *, scale: float, rows: int, columns: int, order: int, mode: str, cval: int
) -> Pixels:
    """Return uint8[H, W, 3] with the points of a regular grid displaced and the triangles between warped.

    The grid has ``rows`` by ``columns`` points, borders included; every point moves by a normal
    displacement of standard deviation ``scale``, as a share of the height and of the width, but not out of
    the image. ``order`` 1 is bilinear; with ``mode`` constant, what comes from outside is ``cval``.
    """
    augmenter = iaa.PiecewiseAffine(
        scale=scale, nb_rows=rows, nb_cols=columns, order=order, mode=mode, cval=cval, seed=seed
    )
    with warnings.catch_warnings():
        # imgaug calls a method of scikit-image that 0.26 deprecates.
        warnings.simplefilter("ignore", FutureWarning)
        return augment(augmenter, image)
