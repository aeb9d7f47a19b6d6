"""Real photographs for tests of corruptions, cropped and scaled to any size, from outside the repository."""

import base64
import csv
import io
import sys
from functools import cache

import numpy as np
from PIL import Image

from benchc.pixels import Pixels
from tests.shared_data import SHARED

FOLDER = SHARED / "data" / "real" / "caption"


@cache
def photographs() -> tuple[Image.Image, ...]:
    """Return the 31 photographs of the caption sets, RGB, as published, in the order of the files."""
    csv.field_size_limit(sys.maxsize)
    images = []
    for path in sorted(FOLDER.glob("*.tsv")):
        with path.open(newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                data = base64.b64decode(row["image"])
                images.append(Image.open(io.BytesIO(data)).convert("RGB"))
    return tuple(images)


def photo(index: int, height: int, width: int) -> Pixels:
    """Return photograph ``index`` as uint8[height, width, 3]: its middle in that shape, scaled (Lanczos)."""
    image = photographs()[index]
    scale = min(image.width / width, image.height / height)
    # One of the two is 0, up to rounding.
    left, top = (max(0.0, side / 2) for side in (image.width - width * scale, image.height - height * scale))
    box = (left, top, image.width - left, image.height - top)
    return np.array(image.resize((width, height), Image.Resampling.LANCZOS, box=box))
