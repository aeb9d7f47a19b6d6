"""Luminance changes: brighten, darken and mean shift.

Source: Lin, Hosu and Saupe, KADID-10k (QoMEX 2019), distortions 16 to 18; for R-Bench's dimensions 25 to 27.
"""

import numpy as np

from benchc.corruptions.lab import from_lab, to_lab
from benchc.pixels import Pixels


def brighten(image: Pixels, *, amount: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with its middle grey raised by ``amount / 2`` of the range.

    A parabola through black, white and the raised middle is applied to the channels of RGB, and separately to
    L of Lab; the result is 2/3 of the former and 1/3 of the latter, as in KADID-10k.
    """
    return _bend(image, 2 * amount)


def darken(image: Pixels, *, amount: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with its middle grey lowered by ``amount / 2`` of the range.

    With the parabola and mixture of :func:`brighten`.
    """
    return _bend(image, -2 * amount)


def draw_sign(generator: np.random.Generator, height: int, width: int, **parameters: object) -> int:
    """Return -1 or 1 with equal probability."""
    del height, width, parameters
    return 1 if generator.random() < 0.5 else -1


def mean_shift(image: Pixels, field: int, *, shift: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) plus ``field`` (1 or -1) times ``shift`` of the range, clipped."""
    moved = np.arange(256) + field * 255 * shift
    return np.asarray(np.clip(np.rint(moved), 0, 255).astype(np.uint8)[image])


def _bend(image: Pixels, bend: float) -> Pixels:
    lab = to_lab(image)
    light = lab[0] / np.float32(100)
    lab[0] = 100 * np.clip(light + np.float32(bend) * light * (1 - light), 0, 1)
    value = np.arange(256) / 255
    bent = 255 * np.clip(value + bend * value * (1 - value), 0, 1)
    table = (2 / 3 * bent).astype(np.float32)
    result = from_lab(lab)
    for channel in range(3):
        result[..., channel] = np.rint(table[image[..., channel]] + result[..., channel] / np.float32(3))
    return result
