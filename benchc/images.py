"""Encoded images to pixels and back: one decoder for every stage, a lossless encoder, and a hash."""

import hashlib
import io
import warnings
import zlib
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps, UnidentifiedImageError

from benchc.errors import InputError

Pixels = npt.NDArray[np.uint8]  # [H, W, 3], RGB

# Pillow refuses larger files by default too; published benchmarks stay below half of it.
MAX_PIXELS = 178_956_970

Alpha = Literal["drop", "white"]  # what becomes of transparency: ignored, or laid over white

ALPHAS: tuple[Alpha, ...] = get_args(Alpha)

Codec = Literal["webp", "png", "ppm"]
CODECS: tuple[Codec, ...] = get_args(Codec)

# Bytes per pixel and milliseconds per megapixel to encode and to decode, on clean and corrupted photographs:
# lossless WebP at method 0: 1.02, 28, 14; at method 1: 0.95, 112, 14; PNG at level 1 with run lengths: 1.27,
# 48, 20; PNG at level 6, Pillow's default: 1.22, 188, 19; PPM, which does not compress: 3.00, 1, 1.
# docs/benchmarks.md has the whole table.
DEFAULT_CODEC: Codec = "webp"

WEBP_MAX_SIDE = 16_383  # of the format
JPEG_MAX_SIDE = 65_500  # of libjpeg

# Pillow knows what these are and predictions no pixels; of EPS it does with Ghostscript alone.
IDENTIFIED_ONLY = ("BUFR", "EPS", "GRIB", "HDF5", "MPEG", "WMF")


class ImageError(InputError):
    """Bytes that are no whole image, or an image that is too large to be meant or to be worked on."""


def decode(data: bytes, alpha: Alpha = "drop") -> Pixels:
    """Return the image in ``data`` as uint8[H, W, 3], RGB, upright.

    EXIF rotation is applied. Alpha is dropped, not blended: models see the colour stored under it, as
    VLMEvalKit shows it to them; ``alpha="white"`` lays the image over white instead. 16-bit values keep their
    upper byte; of an animation the first frame counts.
    Raises ImageError where the bytes are truncated, in no known format, or of more than ``MAX_PIXELS``, and
    ValueError for another ``alpha``.
    """
    if alpha not in get_args(Alpha):
        raise ValueError(f"alpha is one of {', '.join(get_args(Alpha))}, not {alpha!r}")
    try:
        with warnings.catch_warnings():
            # The limit below decides, and an error says more than a warning.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data)) as file:
                if file.width * file.height > MAX_PIXELS:
                    raise ImageError(_too_large(file.width, file.height))
                file.load()
                ImageOps.exif_transpose(file, in_place=True)
                pixels = np.array(_to_rgb(file, alpha), dtype=np.uint8)
    except (ImageError, MemoryError):
        raise
    except UnidentifiedImageError as error:
        raise ImageError(f"these {len(data):,} bytes are no whole image (of any known format)") from error
    except Image.DecompressionBombError as error:
        raise ImageError(f"the image is larger than the {MAX_PIXELS:,} pixels that are read") from error
    except Exception as error:  # Pillow's decoders raise almost anything on damaged files
        raise ImageError(f"these {len(data):,} bytes are no whole image ({error})") from error
    return pixels


def encode(image: Pixels, codec: Codec = DEFAULT_CODEC) -> bytes:
    """Return ``image`` (uint8[H, W, 3], RGB) as the bytes of a file, without loss, for :func:`decode`.

    A side beyond ``WEBP_MAX_SIDE`` goes into a PNG instead of a WebP.
    """
    if codec == "webp" and max(image.shape) <= WEBP_MAX_SIDE:
        return _encoded(image, "WEBP", lossless=True, method=0, quality=0)
    if codec == "ppm":
        return _encoded(image, "PPM")
    return encode_png(image)


def encode_png(image: Pixels) -> bytes:
    """Return ``image`` (uint8[H, W, 3], RGB) as PNG bytes, without loss."""
    return _encoded(image, "PNG", compress_level=1, compress_type=zlib.Z_RLE)


def check_sides(image: Pixels, limit: int, file_format: str) -> None:
    """Raise ImageError where a side of ``image`` (uint8[H, W, 3]) has more than ``limit`` pixels."""
    height, width, _ = image.shape
    if max(height, width) > limit:
        raise ImageError(
            f"{file_format} holds sides of at most {limit:,} pixels, and the image has {width:,} × "
            f"{height:,}: scale it down"
        )


def readable_suffixes() -> frozenset[str]:
    """Return the suffixes, such as ``.png``, of the files whose pixels :func:`decode` can read."""
    suffixes = Image.registered_extensions()  # fills Image.OPEN
    formats = Image.OPEN.keys() - set(IDENTIFIED_ONLY)
    return frozenset(suffix for suffix, name in suffixes.items() if name in formats)


def pixel_hash(images: Sequence[Pixels]) -> str:
    """Return 32 hexadecimal digits that stand for the shapes and pixels of ``images``, in order."""
    digest = hashlib.blake2b(digest_size=16)
    for image in images:
        if image.dtype != np.uint8:
            raise ValueError(f"pixels are hashed as uint8, these are {image.dtype}")
        digest.update(f"{image.shape}".encode())
        digest.update(np.ascontiguousarray(image).data)
    return digest.hexdigest()


def _encoded(image: Pixels, file_format: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(image, "RGB").save(buffer, file_format, **options)
    return buffer.getvalue()


def _to_rgb(image: Image.Image, alpha: Alpha) -> Image.Image:
    if image.mode == "F":
        raise ImageError("the image holds floating-point values, whose range is not known")
    if image.mode.startswith("I"):
        # Pillow's own conversion has clipped at 255 in some releases and shifted in others.
        values = np.asarray(image).astype(np.int64)
        if alpha == "white" and "transparency" in image.info:
            values[values == image.info["transparency"]] = 65535
        return Image.fromarray(np.clip(values >> 8, 0, 255).astype(np.uint8), "L").convert("RGB")
    if alpha == "white" and image.has_transparency_data:
        white = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white, image.convert("RGBA")).convert("RGB")
    return image if image.mode == "RGB" else image.convert("RGB")


def _too_large(width: int, height: int) -> str:
    return f"the image has {width} × {height} pixels, more than the {MAX_PIXELS:,} that are read"
