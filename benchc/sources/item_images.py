"""The images of an item from a row of a VLMEvalKit TSV, and the check of any image file."""

import ast
import base64
import binascii
import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from PIL import Image, ImageOps

from benchc.images import ImageError, opened
from benchc.sources.error import InvalidRowError
from benchc.sources.item_text import present

# VLMEvalKit's rule: a text of up to this length is the index of the row that has the image. Here it is an
# image if it is a valid one.
LONGEST_REFERENCE = 64


class ImageFile(NamedTuple):
    """An image file as published: its encoded bytes, and its path in the source, if any."""

    bytes: bytes
    path: str | None


def check_image(data: bytes) -> None:
    """Decode an image file. Raises ImageError where it is not complete, or not an image that is read."""
    with _decoded(data):
        pass


def read_item_images(
    values: Mapping[str, str], check: Callable[[bytes], object] = check_image
) -> list[ImageFile] | str:
    """Return the images of a row, or the index of the row whose images it shares.

    The field ``image`` is base64, a Python list of base64 strings, or an index; a short text that is no image
    is taken for an index, which the caller looks up. ``check`` is called with every image file, and raises
    ImageError for what is none. Raises InvalidRowError where the field is none of these, or ``check`` does.
    """
    text = values.get("image", "")
    if not text.strip():
        raise InvalidRowError("has no image")
    try:
        return _image_files(text, values, check)
    except InvalidRowError:
        if len(text) > LONGEST_REFERENCE:
            raise
        return text.strip()


def _image_files(text: str, values: Mapping[str, str], check: Callable[[bytes], object]) -> list[ImageFile]:
    encoded = _strings(text)
    paths: list[str | None] = [*_strings(values.get("image_path", ""))]
    if paths and len(paths) != len(encoded):
        raise InvalidRowError(f"image_path names {len(paths)} files, but image has {len(encoded)}")
    return [
        ImageFile(_decode(one, position, check), path)
        for position, (one, path) in enumerate(zip(encoded, paths or [None] * len(encoded), strict=True))
    ]


def read_image_names(values: Mapping[str, str], column: str) -> list[str]:
    """Return the image names in a row's ``column``: one string, or a Python list of strings and integers.

    Raises InvalidRowError where a name is missing.
    """
    text = values.get(column, "")
    names = _list(text, f"column {column!r} has a broken list of names") if _is_list(text) else [text]
    if not names or not all(map(_is_name, names)):
        raise InvalidRowError(f"column {column!r} does not name every image")
    return [str(name) for name in names]


def _is_name(value: object) -> bool:
    # Python refuses to write out longer numbers than this.
    return (isinstance(value, str) and present(value) is not None) or (
        isinstance(value, int) and abs(value) < 2**64
    )


def _strings(field: str) -> list[str]:
    if not _is_list(field):
        return [field] if field else []
    strings = _list(field, "has a broken list of images")
    if not strings or not all(isinstance(string, str) for string in strings):
        raise InvalidRowError("has a list of images that is empty or not of strings")
    return strings


def _is_list(text: str) -> bool:
    return text.startswith("[") and text.endswith("]")


def _list(text: str, problem: str) -> list[Any]:
    try:
        return list(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise InvalidRowError(f"{problem} ({type(error).__name__})") from error


def _decode(text: str, position: int, check: Callable[[bytes], object]) -> bytes:
    where = f"image {position + 1}"
    if text.startswith("data:"):
        raise InvalidRowError(
            f"{where} begins with {text.partition(',')[0][:30]!r}; remove this prefix and its comma"
        )
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRowError(f"{where} is not base64 ({error})") from error
    try:
        check(data)
    except ImageError as error:
        raise InvalidRowError(f"{where}: {error}") from error
    return data


def pixel_digest(data: bytes) -> str:
    """Return the SHA-256 of an image file's pixels as they are stored: mode, size, transparency and values.

    Images of one digest look alike however transparent ones are shown (:func:`benchc.images.decode`). The
    values of a palette image are its colours. Raises ImageError as :func:`check_image`.
    """
    with _decoded(data) as image:
        ImageOps.exif_transpose(image, in_place=True)
        stored: Image.Image = image
        if image.mode in ("P", "PA"):
            stored = image.convert("RGBA" if image.has_transparency_data else "RGB")
        facts = f"{stored.mode} {stored.size} {stored.info.get('transparency')}"
        return hashlib.sha256(facts.encode() + stored.tobytes()).hexdigest()


@contextmanager
def _decoded(data: bytes) -> Iterator[Image.Image]:
    with opened(data) as image:
        image.verify()
    # Only decoding notices that a JPEG is truncated; a verified file has to be opened again.
    with opened(data) as image:
        image.load()
        yield image
