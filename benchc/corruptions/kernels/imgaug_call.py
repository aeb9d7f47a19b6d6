"""What kernels that call imgaug share: a seed for its random numbers, and one call that leaves no trace."""

import imgaug.augmenters as iaa
import numpy as np
from imgaug.random import get_global_rng

from benchc.corruptions.suite import Value
from benchc.images import Pixels

# For augmenters whose parameters are all fixed numbers: they draw, and nothing comes of it.
UNUSED_SEED = 0


def draw_seed(generator: np.random.Generator, height: int, width: int, **parameters: Value) -> int:
    """Return a seed for imgaug, which draws its random numbers itself."""
    return int(generator.integers(2**63))


def augment(augmenter: iaa.Augmenter, image: Pixels) -> Pixels:
    """Return what a fresh, seeded augmenter makes of uint8[H, W, 3], as a new contiguous array.

    Some augmenters build others inside without a seed. Those draw from imgaug's global generator, which
    cannot change the result while their parameters are fixed numbers, but moves it: it is put back.
    """
    generator = get_global_rng()
    state = generator.state
    try:
        return np.array(augmenter.augment_image(image), dtype=np.uint8, order="C")
    finally:
        generator.state = state
