"""Digital corruptions of ImageNet-C that Pillow makes: JPEG compression and pixelation."""

import io
from typing import Literal

import numpy as np
from PIL import Image

from benchc.images import FORMATS, JPEG_MAX_SIDE, check_sides
from benchc.pixels import Pixels

Filter = Literal["nearest", "box"]
_FILTERS = {"nearest": Image.Resampling.NEAREST, "box": Image.Resampling.BOX}


def jpeg_compression(image: Pixels, *, quality: int) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) after JPEG compression of ``quality``.

    Hendrycks and Dietterich (2019): Pillow's encoder with its defaults. Raises ImageError where a side
    has more than 65,500 pixels, the limit of libjpeg.
    """
    check_sides(image, JPEG_MAX_SIDE, "JPEG")
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=quality)
    return np.array(Image.open(file, formats=FORMATS))


def pixelate(image: Pixels, *, scale: float, enlarge: Filter) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) shrunk to ``scale`` times its sides by box averages, and enlarged.

    Hendrycks and Dietterich (2019) enlarge by the ``box`` filter, imagecorruptions by the ``nearest`` pixel.
    """
    height, width, _ = image.shape
    original = Image.fromarray(image)
    small = original.resize((int(width * scale), int(height * scale)), Image.Resampling.BOX)
    return np.array(small.resize((width, height), _FILTERS[enlarge]))
