"""Corruptions that assign values to pixels: two kinds of impulse noise, and a threshold.

Source: supplement of the VQA robustness benchmark, A.2. Impulses replace a pixel "on all the color channels".
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchc.pixels import Pixels


class Impulses(NamedTuple):
    """Which pixels are replaced, at any severity, and by what."""

    rank: npt.NDArray[np.float32]  # [H, W], uniform in [0, 1): replaced where below the fraction of pixels
    value: npt.NDArray[np.uint8]  # [H, W], uniform in 0 to 255


def draw_rank(
    generator: np.random.Generator, height: int, width: int, **parameters: object
) -> npt.NDArray[np.float32]:
    """Return float32[height, width], uniform in [0, 1) in steps of 2**-24."""
    del parameters  # the noise does not depend on the severity
    return generator.random((height, width), dtype=np.float32)


def draw_impulses(generator: np.random.Generator, height: int, width: int, **parameters: object) -> Impulses:
    """Return the field of :func:`random_valued_impulse_noise`."""
    rank = draw_rank(generator, height, width, **parameters)
    return Impulses(rank, generator.integers(0, 256, (height, width), dtype=np.uint8))


def salt_and_pepper(image: Pixels, field: npt.NDArray[np.float32], *, amount: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with the fraction ``amount`` of its pixels black or white, half each.

    ``field`` is float32[H, W] in [0, 1): black below ``amount / 2``, white from there up to ``amount``.
    """
    result = image.copy()
    result[field < np.float32(amount)] = 255
    result[field < np.float32(amount / 2)] = 0
    return result


def random_valued_impulse_noise(image: Pixels, field: Impulses, *, amount: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with the fraction ``amount`` of its pixels set to random greys."""
    hit = field.rank < np.float32(amount)
    return np.where(hit[..., np.newaxis], field.value[..., np.newaxis], image)


def binary_threshold(image: Pixels, *, threshold: int) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with each value above ``threshold`` at 255 and each other at 0."""
    return np.where(image > threshold, np.uint8(255), np.uint8(0))
