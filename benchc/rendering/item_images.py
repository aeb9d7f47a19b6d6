"""The decoded pictures of an item, from a table that holds them as files."""

from pathlib import Path
from typing import Any

from benchc.errors import InputError
from benchc.images import ImageError, Pixels, decode


def item_images(row: dict[str, Any], path: Path) -> list[Pixels]:
    """Return the pictures in ``row["images"]``, uint8[H, W, 3] each; ``row`` is one of the table at ``path``.

    Raises InputError where one is damaged.
    """
    try:
        return [decode(image["bytes"]) for image in row["images"]]
    except ImageError as error:
        raise InputError(f"{path}: item {row['id']!r}: {error}; fix it, or recreate the table") from error
