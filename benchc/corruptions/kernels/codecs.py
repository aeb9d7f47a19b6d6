"""Lossy compression: encode and decode.

Source: R-Bench's dimensions 15 to 17; KADID-10k's distortions 9 and 10. The encoders are Pillow's.
"""

import io
from typing import Any

import numpy as np
from PIL import Image

from benchc.images import FORMATS, JPEG_MAX_SIDE, WEBP_MAX_SIDE, check_sides
from benchc.pixels import Pixels


def jpeg2000(image: Pixels, *, ratio: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) after JPEG2000 at 1 / ``ratio`` of its bytes.

    One layer of the irreversible wavelet. Small images stay larger, because of the headers.
    """
    return _decoded(
        _encoded(image, "JPEG2000", quality_mode="rates", quality_layers=[ratio], irreversible=True)
    )


def jpeg(image: Pixels, *, quality: int) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) after JPEG of ``quality`` (0 to 100), with halved chroma.

    Raises ImageError where a side has more than 65,500 pixels, the limit of libjpeg.
    """
    check_sides(image, JPEG_MAX_SIDE, "JPEG")
    return _decoded(_encoded(image, "JPEG", quality=quality, subsampling="4:2:0"))


def webp(image: Pixels, *, quality: int) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) after lossy WebP of ``quality`` (0 to 100).

    Raises ImageError where a side has more than 16,383 pixels, the limit of the format.
    """
    check_sides(image, WEBP_MAX_SIDE, "WebP")
    return _decoded(_encoded(image, "WEBP", quality=quality, method=4))


def _encoded(image: Pixels, format_: str, **options: Any) -> bytes:
    with io.BytesIO() as file:
        Image.fromarray(image).save(file, format_, **options)
        return file.getvalue()


def _decoded(data: bytes) -> Pixels:
    with Image.open(io.BytesIO(data), formats=FORMATS) as image:
        return np.array(image.convert("RGB"))
