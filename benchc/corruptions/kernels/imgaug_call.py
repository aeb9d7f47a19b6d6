"""Call imgaug with a seed, without changing its global random state."""

import imgaug.augmenters as iaa
import numpy as np
from imgaug.random import get_global_rng

from benchc.corruptions.suite import Value
from benchc.pixels import Pixels

# For augmenters with constant parameters, whose random numbers have no effect.
UNUSED_SEED = 0


def draw_seed(generator: np.random.Generator, height: int, width: int, **parameters: Value) -> int:
    """Return a seed for imgaug, which samples its random numbers itself."""
    return int(generator.integers(2**63))


def augment(augmenter: iaa.Augmenter, image: Pixels) -> Pixels:
    """Apply a new, seeded augmenter to uint8[H, W, 3]; returns a new contiguous array.

    Some augmenters create others without a seed, which advance imgaug's global generator. This does not
    affect the result, as their parameters are constant; the generator's state is restored.
    """
    generator = get_global_rng()
    state = generator.state
    try:
        return np.array(augmenter.augment_image(image), dtype=np.uint8, order="C")
    finally:
        generator.state = state
