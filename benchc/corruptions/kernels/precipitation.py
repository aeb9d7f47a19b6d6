"""Rain and snowflakes by imgaug: layers of salt noise, upscaled and blurred along the fall."""

import imgaug.augmenters as iaa
import numpy as np

from benchc.corruptions.kernels.imgaug_call import augment, draw_seed
from benchc.pixels import Pixels

__all__ = ["draw_seed", "rain", "snowflakes"]


def rain(
    image: Pixels,
    seed: int,
    *,
    layers: int,
    density: float,
    density_uniformity: float,
    drop_size: float,
    drop_size_uniformity: float,
    max_angle: float,
    speed: float,
    blur: float,
) -> Pixels:
    """Return uint8[H, W, 3] behind ``layers`` layers of drops; the parameters are imgaug's ``RainLayer``'s.

    ``density`` is the fraction of pixels of a layer, before upscaling, where a drop begins; 1 -
    ``drop_size`` is the inverse of the upscaling factor; a drop is blurred over ``speed`` times the longer
    side, at an angle to the vertical that is uniform within ``max_angle`` degrees for each layer.
    """
    return _fall(
        image,
        seed,
        layers,
        iaa.RainLayer,
        density=density,
        density_uniformity=density_uniformity,
        drop_size=drop_size,
        drop_size_uniformity=drop_size_uniformity,
        angle=(-max_angle, max_angle),
        speed=speed,
        blur_sigma_fraction=blur,
    )


def snowflakes(
    image: Pixels,
    seed: int,
    *,
    layers: int,
    density: float,
    density_uniformity: float,
    flake_size: float,
    flake_size_uniformity: float,
    max_angle: float,
    speed: float,
    blur: float,
) -> Pixels:
    """Return uint8[H, W, 3] behind ``layers`` layers of flakes, as :func:`rain` with ``SnowflakesLayer``."""
    return _fall(
        image,
        seed,
        layers,
        iaa.SnowflakesLayer,
        density=density,
        density_uniformity=density_uniformity,
        flake_size=flake_size,
        flake_size_uniformity=flake_size_uniformity,
        angle=(-max_angle, max_angle),
        speed=speed,
        blur_sigma_fraction=blur,
    )


def _fall(
    image: Pixels,
    seed: int,
    layers: int,
    layer: type[iaa.Augmenter],
    **parameters: float | tuple[float, float],
) -> Pixels:
    # imgaug's Rain and Snowflakes copy one seeded layer, so all layers would have the same drops.
    seeds = np.random.SeedSequence(seed).generate_state(layers, np.uint64)
    result = image
    for layer_seed in seeds:
        result = augment(layer(**parameters, seed=int(layer_seed) >> 1), result)
    return result
