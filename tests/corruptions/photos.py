"""Real photographs for tests of corruptions, cropped and scaled to any size, from installed packages."""

from functools import cache
from pathlib import Path

import imgaug
import matplotlib
import numpy as np
import skimage
import sklearn
from PIL import Image

from benchc.pixels import Pixels

_SKIMAGE = Path(skimage.__file__).parent / "data"
_SKLEARN = Path(sklearn.__file__).parent / "datasets" / "images"
_FILES = {
    "astronaut": _SKIMAGE / "astronaut.png",
    "cat": _SKIMAGE / "chelsea.png",
    "coffee": _SKIMAGE / "coffee.png",
    "motorcycle": _SKIMAGE / "motorcycle_left.png",
    "rocket": _SKIMAGE / "rocket.jpg",  # dark
    "pagoda": _SKLEARN / "china.jpg",  # bright
    "flower": _SKLEARN / "flower.jpg",  # dark
    "portrait": Path(matplotlib.get_data_path()) / "sample_data" / "grace_hopper.jpg",
    "quokka": Path(imgaug.__file__).parent / "quokka.jpg",
}
PHOTOS = tuple(_FILES)


def photo(name: str, height: int, width: int) -> Pixels:
    """Return a photograph as uint8[height, width, 3]: its middle in that shape, scaled (Lanczos)."""
    image = _decoded(name)
    scale = min(image.width / width, image.height / height)
    # One of the two is 0, up to rounding.
    left, top = (max(0.0, side / 2) for side in (image.width - width * scale, image.height - height * scale))
    box = (left, top, image.width - left, image.height - top)
    return np.array(image.resize((width, height), Image.Resampling.LANCZOS, box=box))


@cache
def _decoded(name: str) -> Image.Image:
    return Image.open(_FILES[name]).convert("RGB")
