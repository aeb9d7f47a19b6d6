"""Synthetic stand-ins for what R-Bench photographs: light, obstacles and a shaking camera.

Source: R-Bench's dimensions 2, 3, 4, 7 and 8, which its authors captured as pairs of photographs. They
publish no model of them; the models here are our own.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image

from benchc.corruptions.fields import Bits16, Floats32, draw_bits16, normal_of
from benchc.corruptions.kernels.kadid_blur import spread
from benchc.corruptions.lab import from_linear, to_linear
from benchc.corruptions.smear import Line
from benchc.pixels import Pixels

# Of the dark image's sensor: photons at white, and noise of the read-out with white being 1.
_PHOTONS = 2000.0
_READ_OUT = 0.004
_OUTLINE = 6  # side of the random grid that defines an obstacle's outline
_STEPS = 64  # of the camera's path during one exposure


class Place(NamedTuple):
    """A point in the image, as fractions of its height and width."""

    down: float
    right: float


class Obstacle(NamedTuple):
    """An obstacle's position, outline, and colour in linear light."""

    place: Place
    outline: Floats32  # [_OUTLINE, _OUTLINE], standard normal
    color: Floats32  # [3]


def draw_light(generator: np.random.Generator, height: int, width: int, **parameters: object) -> Place:
    """Return the position of a light, anywhere in the upper half."""
    del height, width, parameters
    return Place(generator.uniform(0, 0.5), generator.uniform(0, 1))


def bright_illumination(image: Pixels, field: Place, *, gain: float, glare: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) exposed ``gain`` times as long, with veiling glare around ``field``.

    In linear light, it adds ``glare`` (white being 1) at the light and falls with the square of the distance,
    to half at a third of the shorter side.
    """
    height, width, _ = image.shape
    reach = min(height, width) / 3
    down = (np.arange(height, dtype=np.float32) - field.down * height) / reach
    right = (np.arange(width, dtype=np.float32) - field.right * width) / reach
    veil = glare / (1 + np.add.outer(np.square(down), np.square(right)))
    light = to_linear(image)
    light *= np.float32(gain)
    light += veil[..., np.newaxis].astype(np.float32)
    return from_linear(light)


def draw_bits(generator: np.random.Generator, height: int, width: int, **parameters: object) -> Bits16:
    """Return uint16[height, width, 3], uniform: cells of the normal distribution."""
    del parameters  # the noise does not depend on the severity
    return draw_bits16(generator, height, width, 3)


def dark_illumination(image: Pixels, field: Bits16, *, gain: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with ``gain`` times its light, and sensor noise."""
    light = to_linear(image)
    light *= np.float32(gain)
    noise = normal_of(field)
    noise *= np.sqrt(light * np.float32(1 / _PHOTONS) + np.float32(_READ_OUT**2))
    light += noise
    return from_linear(light)


def draw_obstacle(generator: np.random.Generator, height: int, width: int, **parameters: object) -> Obstacle:
    """Return an obstacle in the scene, near the middle of the image."""
    del height, width, parameters
    place = Place(generator.uniform(0.25, 0.75), generator.uniform(0.25, 0.75))
    color = generator.uniform(0.02, 0.4, 3).astype(np.float32)
    return Obstacle(place, _draw_outline(generator), color)


def blocking_obstacle(image: Pixels, field: Obstacle, *, cover: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with the fraction ``cover`` hidden by an object of one colour."""
    return _behind(image, field, cover, softness=0.004)


def draw_lens_obstacle(
    generator: np.random.Generator, height: int, width: int, **parameters: object
) -> Obstacle:
    """Return an obstacle on the lens, anywhere; it is dark, as it is in its own shadow."""
    del height, width, parameters
    place = Place(generator.uniform(0, 1), generator.uniform(0, 1))
    color = generator.uniform(0.0, 0.06, 3).astype(np.float32)
    return Obstacle(place, _draw_outline(generator), color)


def lens_obstacle(image: Pixels, field: Obstacle, *, cover: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with the fraction ``cover`` behind a defocused object.

    Its edge is soft: at the outline, half of the image is visible.
    """
    return _behind(image, field, cover, softness=0.12)


def draw_shake(
    generator: np.random.Generator, height: int, width: int, **parameters: object
) -> npt.NDArray[np.float64]:
    """Return float64[_STEPS, 2]: pushes on the camera, standard normal, down and to the right."""
    del height, width, parameters
    return generator.standard_normal((_STEPS, 2))


def lens_shaking(image: Pixels, field: npt.NDArray[np.float64], *, extent: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) averaged along the path of a camera pushed by ``field``.

    The sum of the pushes is a decaying velocity, and that of the velocities the path, scaled to ``extent``
    pixels.
    """
    velocity = np.zeros(2)
    path = np.zeros((len(field), 2))
    for step in range(1, len(field)):
        velocity = 0.9 * velocity + field[step]
        path[step] = path[step - 1] + velocity
    path -= path.mean(axis=0)
    across = max(float(np.ptp(path, axis=0).max()), 1e-9)
    return spread(image, _path_taps(path * (extent / across)))


def _path_taps(path: npt.NDArray[np.float64]) -> Line:
    """Return the pixels on a path with their share of the time, bilinear between pixels."""
    whole = np.floor(path).astype(np.int64)
    part = path - whole
    corner = whole.min(axis=0)
    weights = np.zeros(whole.max(axis=0) - corner + 2)
    for down in (0, 1):
        for right in (0, 1):
            share = np.abs(1 - down - part[:, 0]) * np.abs(1 - right - part[:, 1])
            np.add.at(weights, tuple((whole - corner + (down, right)).T), share)
    rows, columns = np.nonzero(weights)
    taken = weights[rows, columns]
    return Line(rows + corner[0], columns + corner[1], (taken / taken.sum()).astype(np.float32))


def _draw_outline(generator: np.random.Generator) -> Floats32:
    return generator.standard_normal((_OUTLINE, _OUTLINE)).astype(np.float32)


def _behind(image: Pixels, obstacle: Obstacle, cover: float, softness: float) -> Pixels:
    height, width, _ = image.shape
    side = min(height, width)
    down = (np.arange(height, dtype=np.float32) - obstacle.place.down * height) / side
    right = (np.arange(width, dtype=np.float32) - obstacle.place.right * width) / side
    # A round hill with random dents; the obstacle is its highest part of the wanted area.
    hill = -np.add.outer(np.square(down), np.square(right)).astype(np.float32)
    dents = Image.fromarray(obstacle.outline).resize((width, height), Image.Resampling.BICUBIC)
    hill += np.float32(0.04) * np.asarray(dents)
    hill -= np.quantile(hill, 1 - cover)
    hill /= np.float32(softness)
    opacity = np.clip(hill + np.float32(0.5), 0, 1, out=hill)
    light = to_linear(image)
    for channel in range(3):
        light[..., channel] += opacity * (obstacle.color[channel] - light[..., channel])
    return from_linear(light)
