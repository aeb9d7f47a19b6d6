"""The images of an item from a row of a VLMEvalKit TSV."""

import ast
import base64
import binascii
import io
import warnings
from collections.abc import Mapping
from typing import NamedTuple

import PIL.Image

from benchc.sources.error import RowRefused
from benchc.sources.item_text import present

# VLMEvalKit's rule: a shorter text is not an image but the index of the row whose image is meant.
LONGEST_REFERENCE = 64


class Image(NamedTuple):
    """An image file as published: its encoded bytes, and the path that its source gives it, if any."""

    bytes: bytes
    path: str | None


def read_item_images(values: Mapping[str, str]) -> list[Image] | str:
    """Return the images that a row holds, or the index of the row whose images it shares.

    The field ``image`` holds one base64 text, a Python list of them, or an index. Raises RowRefused where it
    holds none of these, or something that is not an image file.
    """
    text = values.get("image", "")
    if text == "":
        raise RowRefused("has no image")
    if len(text) <= LONGEST_REFERENCE:
        return text.strip()
    encoded = _texts(text)
    paths: list[str | None] = [*_texts(values.get("image_path", ""))]
    if paths and len(paths) != len(encoded):
        raise RowRefused(f"image_path names {len(paths)} files, but image holds {len(encoded)}")
    return [
        Image(_decode(one, position), path)
        for position, (one, path) in enumerate(zip(encoded, paths or [None] * len(encoded), strict=True))
    ]


def read_image_names(values: Mapping[str, str], column: str) -> list[str]:
    """Return the names that a row's ``column`` gives its images: one text, or a Python list of them.

    Numbers in the list become texts. Raises RowRefused where a name is missing.
    """
    text = values.get(column, "")
    try:
        names = ast.literal_eval(text) if text.startswith("[") and text.endswith("]") else [text]
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise RowRefused(
            f"column {column!r} holds a broken list of names ({type(error).__name__})"
        ) from error
    if not names or not all(present(str(name)) and isinstance(name, (str, int)) for name in names):
        raise RowRefused(f"column {column!r} does not name every image")
    return [str(name) for name in names]


def _texts(field: str) -> list[str]:
    if not (field.startswith("[") and field.endswith("]")):
        return [field] if field else []
    try:
        texts = ast.literal_eval(field)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise RowRefused(f"holds a broken list of images ({type(error).__name__})") from error
    if not texts or not all(isinstance(text, str) for text in texts):
        raise RowRefused("holds a list that is empty or not of texts where images should be")
    return list(texts)


def _decode(text: str, position: int) -> bytes:
    where = f"image {position + 1}"
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise RowRefused(f"{where} is not base64 ({error})") from error
    try:
        with warnings.catch_warnings():
            # Only the header is read here; whoever decodes the pixels decides about large images.
            warnings.simplefilter("ignore", PIL.Image.DecompressionBombWarning)
            with PIL.Image.open(io.BytesIO(data)) as image:
                image.verify()
    except Exception as error:  # Pillow's readers raise whatever a broken file makes them raise
        raise RowRefused(f"{where} is not an image file ({type(error).__name__}: {error})") from error
    return data
