"""Images as a page of HTML contains them."""

import io

import numpy as np
from PIL import Image

from benchc.pixels import Pixels

LONGEST_SIDE = 640  # pixels
QUALITY = 80  # of WebP
SMALL = 256  # pixels: up to this side, an image stays as it is, since WebP halves the resolution of colour


def page_image(image: Pixels, longest_side: int = LONGEST_SIDE) -> bytes:
    """Return ``image``, uint8[H, W, 3], as WebP with sides of at most ``longest_side`` pixels."""
    shown = Image.fromarray(np.ascontiguousarray(image), "RGB")
    shown.thumbnail((longest_side, longest_side), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    shown.save(file, "WEBP", quality=QUALITY, lossless=max(shown.size) <= SMALL)
    return file.getvalue()
