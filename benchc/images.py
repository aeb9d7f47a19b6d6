"""Encoded images to pixels and back: one decoder for every stage, a lossless encoder, and a hash."""

import hashlib
import io
import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps

from benchc.errors import InputError

Pixels = npt.NDArray[np.uint8]  # [H, W, 3], RGB

# Pillow refuses larger files by default too; published benchmarks stay below half of it.
MAX_PIXELS = 178_956_970

# At 640 × 480, level 1 takes 14 ms and 475 kB for a smooth picture, level 6 takes 54 ms and 410 kB; for a
# noisy one both take 29 ms and 905 kB. Most corrupted pictures are one or the other.
PNG_LEVEL = 1


class ImageError(InputError):
    """Bytes that are no whole image, or one too large to be meant."""


def decode(data: bytes) -> Pixels:
    """Return the image in ``data`` as uint8[H, W, 3], RGB, upright.

    EXIF rotation is applied. Alpha is dropped, not blended: models see the colour stored under it, as
    VLMEvalKit shows it to them. 16-bit values keep their upper byte; of an animation the first frame counts.
    Raises ImageError where the bytes are truncated, in no known format, or of more than ``MAX_PIXELS``.
    """
    try:
        with warnings.catch_warnings():
            # The limit below decides, and an error says more than a warning.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data)) as file:
                if file.width * file.height > MAX_PIXELS:
                    raise ImageError(_too_large(file.width, file.height))
                file.load()
                pixels = np.array(_to_rgb(ImageOps.exif_transpose(file)), dtype=np.uint8)
    except (ImageError, MemoryError):
        raise
    except Image.DecompressionBombError as error:
        raise ImageError(f"the image is larger than the {MAX_PIXELS:,} pixels that are read") from error
    except Exception as error:  # Pillow's decoders raise almost anything on damaged files
        raise ImageError(f"these {len(data):,} bytes are no whole image ({error})") from error
    return pixels


def encode_png(image: Pixels, level: int = PNG_LEVEL) -> bytes:
    """Return ``image`` (uint8[H, W, 3], RGB) as PNG bytes, without loss. ``level`` is zlib's, 0 to 9."""
    buffer = io.BytesIO()
    Image.fromarray(image, "RGB").save(buffer, "PNG", compress_level=level)
    return buffer.getvalue()


def pixel_hash(images: Sequence[Pixels]) -> str:
    """Return 32 hexadecimal digits that stand for the shapes and pixels of ``images``, in order."""
    digest = hashlib.blake2b(digest_size=16)
    for image in images:
        if image.dtype != np.uint8:
            raise ValueError(f"pixels are hashed as uint8, these are {image.dtype}")
        digest.update(f"{image.shape}".encode())
        digest.update(np.ascontiguousarray(image).data)
    return digest.hexdigest()


def _to_rgb(image: Image.Image) -> Image.Image:
    if image.mode == "F":
        raise ImageError("the image holds floating-point values, whose range is not known")
    if image.mode.startswith("I"):
        # Pillow's own conversion has clipped at 255 in some releases and shifted in others.
        values = np.asarray(image).astype(np.int64) >> 8
        image = Image.fromarray(np.clip(values, 0, 255).astype(np.uint8), "L")
    return image.convert("RGB")


def _too_large(width: int, height: int) -> str:
    return f"the image has {width} × {height} pixels, more than the {MAX_PIXELS:,} that are read"
