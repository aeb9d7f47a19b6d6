"""Noise that is independent for every value of an image: normal, speckle, shot and impulse.

Defined by Hendrycks and Dietterich (2019), as in imagecorruptions: x is a value of the image in [0, 1], and
the result is truncated, not rounded, to integer grey levels.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.special import pdtr

from benchc.corruptions.fields import Bits16, Bits32, Floats32, draw_bits16, draw_bits32, normal_quantiles
from benchc.pixels import Pixels

# The guide tables of shot noise store counts as bytes.
MAX_PHOTONS = 255
_CELLS = 1 << 32  # of a uniform field
_GUIDE_BITS = 8  # the upper bits of a uniform number lead into a guide table


def draw_normal(generator: np.random.Generator, height: int, width: int, **_: Any) -> Bits16:
    """Return a field for normal noises: uint16[H, W, 3], cells of ``fields.normal_quantiles``."""
    return draw_bits16(generator, height, width, 3)


def draw_uniform(generator: np.random.Generator, height: int, width: int, **_: Any) -> Bits32:
    """Return a field for shot and impulse noise: uint32[H, W, 3], i standing for (i + 0.5) / 2**32.

    With 16 bits, shot noise of 3 photons would miss the mean of the darkest values by 0.13 %.
    """
    return draw_bits32(generator, height, width, 3)


def gaussian_noise(image: Pixels, field: Bits16, *, std: float) -> Pixels:
    """Return clip(x + N(0, std), 0, 1).

    ``image`` and the result are uint8[H, W, 3]; ``field`` is from :func:`draw_normal`.
    """
    return _mapped(_add, image, field, np.float32(255 * std) * normal_quantiles())


def speckle_noise(image: Pixels, field: Bits16, *, std: float) -> Pixels:
    """Return clip(x + x N(0, std), 0, 1).

    ``image`` and the result are uint8[H, W, 3]; ``field`` is from :func:`draw_normal`.
    """
    return _mapped(_multiply, image, field, np.float32(1) + np.float32(std) * normal_quantiles())


def shot_noise(image: Pixels, field: Bits32, *, photons: int) -> Pixels:
    """Return clip(Poisson(x photons) / photons, 0, 1), each count a quantile of the Poisson distribution.

    ``image`` and the result are uint8[H, W, 3]; ``field`` is from :func:`draw_uniform`. Raises ValueError
    unless ``photons`` is from 1 to 255.
    """
    if not 1 <= photons <= MAX_PHOTONS:
        raise ValueError(f"shot noise has 1 to {MAX_PHOTONS} photons at white, not {photons}")
    return _mapped(_count, image, field, *_poisson_tables(photons))


def impulse_noise(image: Pixels, field: Bits32, *, amount: float) -> Pixels:
    """Return ``image`` with the fraction ``amount`` of its values replaced, half by 255 and half by 0.

    ``image`` and the result are uint8[H, W, 3]; ``field`` is from :func:`draw_uniform`: its smallest
    numbers set 255, the next 0, independently in each channel.
    """
    ends = (min(round(share * _CELLS), _CELLS - 1) for share in (amount / 2, amount))
    return _mapped(_replace, image, field, *ends)


class _PoissonTables(NamedTuple):
    """Poisson quantiles for the 256 grey levels."""

    guide: npt.NDArray[np.uint8]  # [256, 256]: the count at the start of each cell of the upper bits
    last: Bits32  # [256, photons + 1]: the last cell of the uniform field that gives each count
    grey: npt.NDArray[np.uint8]  # [photons + 1]: the grey level of each count


@cache
def _poisson_tables(photons: int) -> _PoissonTables:
    counts = np.arange(photons)
    below = pdtr(counts[None, :], np.arange(256)[:, None] / 255 * photons)  # P(N <= count)
    # A cell gives more than `count` where its midpoint lies beyond P(N <= count). Counts from `photons` on
    # are white, so the last column takes all remaining cells.
    first_above = np.floor(below * _CELLS + 0.5).astype(np.int64)
    starts = np.arange(1 << _GUIDE_BITS, dtype=np.int64) << (32 - _GUIDE_BITS)
    guide = np.stack([np.searchsorted(row, starts, side="right") for row in first_above])
    # Where a count has no cell, the guide starts beyond it.
    last = np.full((256, photons + 1), _CELLS - 1)
    last[:, :photons] = np.maximum(first_above - 1, 0)
    grey = np.minimum(np.arange(photons + 1) / float(photons), 1) * 255
    return _PoissonTables(guide.astype(np.uint8), last.astype(np.uint32), grey.astype(np.uint8))


def _mapped(
    loop: Callable[..., None], image: Pixels, field: npt.NDArray[Any], *arguments: npt.NDArray[Any] | int
) -> Pixels:
    result = np.empty_like(image)
    loop(image.reshape(-1), field.reshape(-1), *arguments, result.reshape(-1))
    return result


@njit(cache=True, nogil=True)
def _add(values: Pixels, field: Bits16, offsets: Floats32, result: Pixels) -> None:
    for i in range(values.size):
        value = np.float32(values[i]) + offsets[field[i]]
        result[i] = np.uint8(max(np.float32(0), min(np.float32(255), value)))


@njit(cache=True, nogil=True)
def _multiply(values: Pixels, field: Bits16, factors: Floats32, result: Pixels) -> None:
    for i in range(values.size):
        value = np.float32(values[i]) * factors[field[i]]
        result[i] = np.uint8(max(np.float32(0), min(np.float32(255), value)))


@njit(cache=True, nogil=True)
def _count(
    values: Pixels,
    field: Bits32,
    guide: npt.NDArray[np.uint8],
    last: Bits32,
    grey: npt.NDArray[np.uint8],
    result: Pixels,
) -> None:
    shift = np.uint32(32 - _GUIDE_BITS)
    for i in range(values.size):
        value, cell = values[i], field[i]
        count = np.int64(guide[value, cell >> shift])
        while cell > last[value, count]:
            count += 1
        result[i] = grey[count]


@njit(cache=True, nogil=True)
def _replace(values: Pixels, field: Bits32, salt_end: int, pepper_end: int, result: Pixels) -> None:
    salt, pepper = np.uint32(salt_end), np.uint32(pepper_end)
    for i in range(values.size):
        cell = field[i]
        result[i] = 255 if cell < salt else (0 if cell < pepper else values[i])
