"""Decode images to pixels, encode them losslessly, and hash pixels: the same code for every stage."""

import hashlib
import io
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, get_args

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from benchc.errors import InputError
from benchc.pixels import Pixels
from benchc.transparency import ALPHAS, Alpha

# Formats that are read: Pillow's own decoders and libraries. Others would start a program (EPS: Ghostscript),
# cannot be decoded, or are rare and little tested.
FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "JPEG2000", "PNG", "PPM", "TIFF", "WEBP")

# More than a frame of 8K video has. A process that corrupts such an image at five severities takes about 60
# bytes per pixel, 120 under the largest corruption: at most 5 GB. docs/configuration.md states it (`url`).
MAX_PIXELS = 40_000_000

# Fog's map is square, and its sides are a power of two: at 32,768, it takes 4 GB.
MAX_SIDE = 32_768

Codec = Literal["webp", "png", "ppm"]
CODECS: tuple[Codec, ...] = get_args(Codec)

# Bytes per pixel and milliseconds per megapixel to encode and to decode, on clean and corrupted photographs:
# lossless WebP at method 0: 1.02, 28, 14; at method 1: 0.95, 112, 14; PNG at level 1 with run lengths: 1.27,
# 48, 20; PNG at level 6, Pillow's default: 1.22, 188, 19; PPM, which does not compress: 3.00, 1, 1.
# docs/benchmarks.md has the whole table.
DEFAULT_CODEC: Codec = "webp"

WEBP_MAX_SIDE = 16_383  # of the format
JPEG_MAX_SIDE = 65_500  # of libjpeg


class ImageError(InputError):
    """Bytes that are not a complete image, or an image that is too large."""


@contextmanager
def opened(data: bytes) -> Iterator[Image.Image]:
    """Yield the image file in ``data``, of which only the header has been read.

    Raises ImageError where the bytes are not in one of ``FORMATS``, an image has more than ``MAX_PIXELS`` or
    ``MAX_SIDE``, or Pillow fails in the block, which it does where the bytes are truncated or damaged.
    """
    try:
        with warnings.catch_warnings():
            # Images above the limit below are an error.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=FORMATS) as file:
                if file.width * file.height > MAX_PIXELS or max(file.size) > MAX_SIDE:
                    raise ImageError(
                        f"the image has {file.width:,} × {file.height:,} pixels, and the limit is "
                        f"{MAX_PIXELS:,}, and {MAX_SIDE:,} a side: scale it down"
                    )
                yield file
    except (ImageError, MemoryError):
        raise
    except UnidentifiedImageError as error:
        raise ImageError(
            f"these {len(data):,} bytes are not a complete image in a known format ({', '.join(FORMATS)})"
        ) from error
    except Image.DecompressionBombError as error:
        raise ImageError(
            f"the image has far more than {MAX_PIXELS:,} pixels, the limit: scale it down"
        ) from error
    except Exception as error:  # Pillow's decoders raise almost any type on damaged files
        raise ImageError(f"these {len(data):,} bytes are not a complete image ({error})") from error


def decode(data: bytes, alpha: Alpha = "drop") -> Pixels:
    """Return the image in ``data`` as uint8[H, W, 3], RGB, upright.

    EXIF rotation is applied. Alpha is dropped, not blended: models see the colour stored under it, as
    VLMEvalKit shows it to them; ``alpha="white"`` blends the image with white instead. 16-bit values keep
    their upper byte; of an animation the first frame is used.
    Raises ImageError for bytes that are no complete image of a known format or have more than
    40 megapixels or 32,768 pixels a side, and ValueError for another ``alpha``.
    """
    if alpha not in ALPHAS:
        raise ValueError(f"alpha is one of {', '.join(ALPHAS)}, not {alpha!r}")
    with opened(data) as file:
        file.load()
        ImageOps.exif_transpose(file, in_place=True)
        return np.array(_to_rgb(file, alpha), dtype=np.uint8)


def encode(image: Pixels, codec: Codec = DEFAULT_CODEC) -> bytes:
    """Return ``image`` (uint8[H, W, 3], RGB) encoded losslessly, for :func:`decode`.

    An image with a side above ``WEBP_MAX_SIDE`` becomes a PNG instead of a WebP.
    """
    if codec == "webp" and max(image.shape) <= WEBP_MAX_SIDE:
        return _encoded(image, "WEBP", lossless=True, method=0, quality=0)
    if codec == "ppm":
        return _encoded(image, "PPM")
    return encode_png(image)


def encode_png(image: Pixels) -> bytes:
    """Return ``image`` (uint8[H, W, 3], RGB) as PNG bytes."""
    return _encoded(image, "PNG", compress_level=1, compress_type=zlib.Z_RLE)


def check_sides(image: Pixels, limit: int, file_format: str) -> None:
    """Raise ImageError where a side of ``image`` (uint8[H, W, 3]) has more than ``limit`` pixels."""
    height, width, _ = image.shape
    if max(height, width) > limit:
        raise ImageError(
            f"{file_format} allows at most {limit:,} pixels a side, and the image has {width:,} × "
            f"{height:,}: scale it down"
        )


def readable_suffixes() -> frozenset[str]:
    """Return the suffixes, such as ``.png``, of the files whose pixels :func:`decode` can read."""
    return frozenset(suffix for suffix, name in Image.registered_extensions().items() if name in FORMATS)


def pixel_hash(images: Sequence[Pixels]) -> str:
    """Return a hash, 32 hexadecimal digits, of the shapes and pixels of ``images``, in order."""
    digest = hashlib.blake2b(digest_size=16)
    for image in images:
        if image.dtype != np.uint8:
            raise ValueError(f"pixels must be uint8 to be hashed, these are {image.dtype}")
        digest.update(f"{image.shape}".encode())
        digest.update(np.ascontiguousarray(image).data)
    return digest.hexdigest()


def _encoded(image: Pixels, file_format: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(image, "RGB").save(buffer, file_format, **options)
    return buffer.getvalue()


def _to_rgb(image: Image.Image, alpha: Alpha) -> Image.Image:
    if image.mode == "F":
        raise ImageError("the image has floating-point values, whose range is unknown")
    if image.mode == "I" and image.format == "TIFF":
        raise ImageError("the image has signed or 32-bit values, whose range is unknown")
    if image.mode.startswith("I"):
        # Pillow's conversion clips at 255 in some releases and shifts in others.
        values = np.array(image)
        if alpha == "white" and "transparency" in image.info:
            values[values == image.info["transparency"]] = 65535
        return Image.fromarray(np.clip(values >> 8, 0, 255).astype(np.uint8), "L").convert("RGB")
    if alpha == "white" and image.has_transparency_data:
        white = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white, image.convert("RGBA")).convert("RGB")
    return image if image.mode == "RGB" else image.convert("RGB")
