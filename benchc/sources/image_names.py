"""The images that a field names: lists of strings, and files below the folder of the data."""

import ast
from functools import cache
from pathlib import Path
from typing import Any

from benchc.sources.error import InvalidRowError

# Longer texts are images in base64.
LONGEST_PATH = 1024
LONGEST_INDEX = 64
# So that one file cannot fill the memory: of 40 megapixels, the limit, an uncompressed one has 160 MB.
LARGEST_FILE = 3 * 2**26


class ImagePathError(InvalidRowError):
    """A path of an image that is refused, or whose file cannot be read."""


def listed_strings(field: str) -> list[str]:
    """Return the strings in a field: one, or a Python list; none of an empty field.

    Raises InvalidRowError where it looks like a list and is none of strings.
    """
    if not is_list(field):
        return [field] if field else []
    strings = python_list(field, "has a broken list of images")
    if not strings or not all(isinstance(string, str) for string in strings):
        raise InvalidRowError("has a list of images that is empty or not of strings")
    return strings


def is_list(text: str) -> bool:
    """Return whether a text looks like a Python list."""
    return text.startswith("[") and text.endswith("]")


def python_list(text: str, problem: str) -> list[Any]:
    """Return the Python list in a text. Raises InvalidRowError, which begins with ``problem``."""
    try:
        return list(ast.literal_eval(text))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise InvalidRowError(f"{problem} ({type(error).__name__})") from error


@cache
def _resolved(folder: Path) -> Path:
    return folder.resolve()


def file_below(folder: Path, name: str, place: str = "the folder of the data") -> Path | None:
    """Return the file ``name`` below ``folder``; None where there is none, and the text may be an image.

    A path has a dot, which base64 has not, or is that of a file. Raises ImagePathError where a path is
    absolute, has "..", leaves the folder by a link, or names no file, or one of more than LARGEST_FILE bytes.
    ``place``: what messages call the folder.
    """
    if len(name) > LONGEST_PATH or not name.strip():
        return None
    shown = f"image {name[-60:]!r}"
    path, dotted = Path(name), "." in name
    if dotted and (path.is_absolute() or ".." in path.parts):
        raise ImagePathError(
            f"{shown} is not a path below {place} without '..'; correct it, or copy the file there"
        )
    try:
        full = (folder / path).resolve()
        found = full.is_file() and not path.is_absolute()
        size = full.stat().st_size if found else 0
    # A name that is too long, a loop of links, a NUL character.
    except (OSError, RuntimeError, ValueError) as error:
        if dotted and isinstance(error, PermissionError):
            raise ImagePathError(f"{shown} cannot be read ({error.strerror})") from error
        found, size = False, 0
    if not found:
        # A short name without a file may be the index of a row.
        if dotted and (len(name) > LONGEST_INDEX or "/" in name):
            raise ImagePathError(f"{shown} is no file below {place}")
        return None
    if not full.is_relative_to(_resolved(folder)):
        raise ImagePathError(f"{shown} is a link out of {place}; copy the file there")
    if size > LARGEST_FILE:
        raise ImagePathError(f"{shown} has {size:,} bytes, and the limit is {LARGEST_FILE:,}")
    return full
