"""Shot noise of the VQA robustness benchmark, which adds Poisson counts to the values."""

import numpy as np
import numpy.typing as npt

from benchc.pixels import Pixels

Field = npt.NDArray[np.float32]


def draw_uniform(generator: np.random.Generator, height: int, width: int, **parameters: object) -> Field:
    """Return float32[height, width, 3], uniform in [0, 1) in steps of 2**-24."""
    del parameters  # the noise does not depend on the severity
    return generator.random((height, width, 3), dtype=np.float32)


def additive_shot_noise(image: Pixels, field: Field, *, rate: float) -> Pixels:
    """Return ``image`` with a Poisson count of mean ``rate`` added to each value in [0, 1], clipped.

    ``image`` is uint8[H, W, 3]. ``field``, float32[H, W, 3] in [0, 1), gives the counts by the inverse
    of their distribution. A count of one gives white, so this sets each value to 255 with
    probability 1 - exp(-rate). Source: supplement of the VQA robustness benchmark, A.1.
    """
    counted = field > np.float32(np.exp(-rate))
    return np.where(counted, np.uint8(255), image)
