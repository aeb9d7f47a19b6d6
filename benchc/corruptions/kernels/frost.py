"""Frost of ImageNet-C: a blend with photographs of frost, those of the installed imagecorruptions package."""

import importlib.util
import math
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
from numba import njit

from benchc.errors import InputError
from benchc.pixels import Pixels

TEXTURES = ("frost1.png", "frost2.png", "frost3.png", "frost4.jpg", "frost5.jpg", "frost6.jpg")
# Margin for a random crop where a texture fits the image exactly.
ENLARGEMENT = 1.1


class CutOut(NamedTuple):
    """A texture, and the crop's upper left corner as fractions of its range, in [0, 1)."""

    texture: int
    down: float
    right: float


def draw_frost(generator: np.random.Generator, height: int, width: int, *, textures: int, **_: Any) -> CutOut:
    """Return a random one of the first ``textures`` textures, and a random position in it."""
    texture = int(generator.integers(textures))
    down, right = generator.random(2).tolist()
    return CutOut(texture, down, right)


def frost(image: Pixels, field: CutOut, *, image_weight: float, frost_weight: float, textures: int) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) times a weight, plus a crop of a photograph of frost times another.

    Hendrycks and Dietterich (2019), as imagecorruptions does it for any size: a texture is scaled to
    1.1 times the size that covers the image. ``field`` is from :func:`draw_frost`. Raises InputError where
    the textures are not installed.
    """
    height, width, _ = image.shape
    texture = _covering(field.texture, height, width)
    # floor(u * n) is uniform on 0 .. n - 1, as numpy's randint(0, n) is.
    top = int(field.down * (texture.shape[0] - height))
    left = int(field.right * (texture.shape[1] - width))
    result = np.empty_like(image)
    _blend(image, texture, top, left, image_weight, frost_weight, result)
    return result


def _covering(index: int, height: int, width: int) -> Pixels:
    rows, columns, _ = _texture(index).shape
    scale = max(1.0, height / rows, width / columns)
    return _enlarged(index) if scale == 1.0 else _scaled(_texture(index), scale)


@cache
def _enlarged(index: int) -> Pixels:
    return _scaled(_texture(index), 1.0)


def _scaled(texture: Pixels, scale: float) -> Pixels:
    rows, columns, _ = texture.shape
    enlargement = scale * ENLARGEMENT
    size = math.ceil(columns * enlargement), math.ceil(rows * enlargement)
    return np.asarray(cv2.resize(texture, size, interpolation=cv2.INTER_CUBIC))


@cache
def _texture(index: int) -> Pixels:
    """Return a texture as uint8[H, W, 3], RGB, its alpha dropped."""
    # The package is found without importing it, which would load all its dependencies.
    package = importlib.util.find_spec("imagecorruptions")
    folders = package.submodule_search_locations if package else None
    path = Path(folders[0] if folders else "imagecorruptions", "frost", TEXTURES[index])
    pixels = cv2.imread(str(path)) if path.is_file() else None
    if pixels is None:
        raise InputError(f"frost needs the image {path}; install the package imagecorruptions-imaug")
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB))


@njit(cache=True, nogil=True)
def _blend(image, texture, top, left, image_weight, frost_weight, result):  # type: ignore[no-untyped-def]
    # In double precision the truncated levels equal those of the published code.
    height, width, _ = image.shape
    for y in range(height):
        ice = texture[top + y, left : left + width].reshape(-1)
        source, target = image[y].reshape(-1), result[y].reshape(-1)
        for i in range(3 * width):
            target[i] = np.int32(min(image_weight * source[i] + frost_weight * ice[i], 255.0))
