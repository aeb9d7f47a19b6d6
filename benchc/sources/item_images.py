"""The images of an item from a row of a VLMEvalKit TSV, and the check of any image file."""

import binascii
import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import PIL.ImageFile
import pybase64
from PIL import Image, ImageOps

from benchc.images import ImageError, opened
from benchc.sources.error import InvalidRowError, SourceError
from benchc.sources.image_names import (
    ImagePathError,
    file_below,
    is_list,
    listed_strings,
    python_list,
)
from benchc.sources.item_text import present
from benchc.sources.tsv import Picture

# VLMEvalKit's rule: a text of up to this length is the index of the row that has the image. Here it is an
# image if it is a valid one.
LONGEST_REFERENCE = 64


class ImageFacts(NamedTuple):
    """Width and height of an image in pixels as it is shown, and the hash of :func:`pixel_digest`."""

    width: int
    height: int
    digest: str


class ImageFile(NamedTuple):
    """An image file as published: its encoded bytes, and its path in the source, if any."""

    bytes: bytes
    path: str | None


def image_of(where: str, cell: object) -> ImageFile:
    """Return the image file in a cell; raises SourceError where it has no bytes."""
    data, path = (cell.get("bytes"), cell.get("path")) if isinstance(cell, Mapping) else (cell, None)
    if not isinstance(data, bytes) or not data:
        raise SourceError(f"{where}: has no image bytes; fetch the file with its images")
    return ImageFile(data, path if isinstance(path, str) else None)


def check_image(data: bytes) -> None:
    """Decode an image file. Raises ImageError where it is not complete, or not an image that is read."""
    with _decoded(data):
        pass


def read_item_images(
    values: Mapping[str, str],
    check: Callable[[bytes], object] = check_image,
    given: Sequence[Picture] | None = None,
    folder: Path | None = None,
) -> list[ImageFile] | str:
    """Return the images of a row, or the index of the row whose images it shares.

    The field ``image`` is base64, a Python list of base64 strings, or an index; a short text that is no image
    is taken for an index, which the caller looks up. ``given``: the row's images, in place of the field.
    ``folder``: texts may be paths of files below it. ``check`` is called with every image file, and raises
    ImageError for what is none. Raises InvalidRowError where the field is none of these, or ``check`` does.
    """
    text = values.get("image", "") if given is None else ""
    if given is not None and len(given) == 1 and isinstance(given[0], str):
        text = given[0]
    if not text.strip() and not given:
        raise InvalidRowError("has no image")
    try:
        return _image_files(listed_strings(text) if given is None else given, values, check, folder)
    except ImagePathError:
        raise
    except InvalidRowError:
        if not text.strip() or len(text) > LONGEST_REFERENCE:
            raise
        return text.strip()


def _image_files(
    pictures: Sequence[Picture],
    values: Mapping[str, str],
    check: Callable[[bytes], object],
    folder: Path | None,
) -> list[ImageFile]:
    paths: list[str | None] = [*listed_strings(values.get("image_path", ""))]
    if paths and len(paths) != len(pictures):
        raise InvalidRowError(f"image_path names {len(paths)} files, but image has {len(pictures)}")
    return [
        _image_file(picture, path, f"image {number}", check, folder)
        for number, (picture, path) in enumerate(
            zip(pictures, paths or [None] * len(pictures), strict=True), start=1
        )
    ]


def _image_file(
    picture: Picture, path: str | None, where: str, check: Callable[[bytes], object], folder: Path | None
) -> ImageFile:
    if isinstance(picture, tuple):
        return ImageFile(_checked(picture[0], where, check), path or picture[1])
    file = None if folder is None else file_below(folder, picture)
    if file is None:
        return ImageFile(_checked(_decode(picture, where), where, check), path)
    try:
        return ImageFile(_checked(file.read_bytes(), where, check), path or picture)
    except OSError as error:
        raise ImagePathError(f"{where} cannot be read ({error.strerror})") from error
    except InvalidRowError as refusal:
        raise ImagePathError(str(refusal)) from refusal


def read_image_names(values: Mapping[str, str], column: str) -> list[str]:
    """Return the image names in a row's ``column``: one string, or a Python list of strings and integers.

    Raises InvalidRowError where a name is missing.
    """
    text = values.get(column, "")
    names = python_list(text, f"column {column!r} has a broken list of names") if is_list(text) else [text]
    if not names or not all(map(_is_name, names)):
        raise InvalidRowError(f"column {column!r} does not name every image")
    return [str(name) for name in names]


def _is_name(value: object) -> bool:
    # Python refuses to write out longer numbers than this.
    return (isinstance(value, str) and present(value) is not None) or (
        isinstance(value, int) and abs(value) < 2**64
    )


def _decode(text: str, where: str) -> bytes:
    if text.startswith("data:"):
        raise InvalidRowError(
            f"{where} begins with {text.partition(',')[0][:30]!r}; remove this prefix and its comma"
        )
    try:
        try:
            return pybase64.b64decode(text, validate=True)
        except ValueError:  # few texts have white space, and to look for it takes long
            return pybase64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRowError(f"{where} is not base64 ({error})") from error


def _checked(data: bytes, where: str, check: Callable[[bytes], object]) -> bytes:
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
    return image_facts(data).digest


def image_facts(data: bytes) -> ImageFacts:
    """Decode an image file as :func:`check_image`, and return its size and :func:`pixel_digest`."""
    with _decoded(data) as image:
        ImageOps.exif_transpose(image, in_place=True)
        stored: Image.Image = image
        if image.mode in ("P", "PA"):
            stored = image.convert("RGBA" if image.has_transparency_data else "RGB")
        facts = f"{stored.mode} {stored.size} {stored.info.get('transparency')}"
        pixels = _Hashed(facts.encode())
        # As tobytes(), but a few rows at a time: memory for all pixels, which the system clears each time,
        # takes longer, and so do crops.
        tile = PIL.ImageFile._Tile("raw", (0, 0, *stored.size), 0, stored.mode)
        PIL.ImageFile._save(stored, pixels, [tile])
        return ImageFacts(*stored.size, pixels.digest.hexdigest())


class _Hashed(io.BytesIO):
    """A file of which only the SHA-256 is kept."""

    def __init__(self, start: bytes) -> None:
        super().__init__()
        self.digest = hashlib.sha256(start)

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return len(data)


@contextmanager
def _decoded(data: bytes) -> Iterator[Image.Image]:
    with opened(data) as image:
        # Pillow checks files of no other format, and one that it has checked is opened again.
        verified = image.format == "PNG"
        if verified:
            image.verify()
        else:
            # Only decoding notices that a JPEG is truncated.
            image.load()
            yield image
    if verified:
        with opened(data) as image:
            image.load()
            yield image
