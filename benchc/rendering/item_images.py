"""The decoded images of an item."""

from pathlib import Path
from typing import Any

from benchc.errors import InputError
from benchc.images import ImageError, decode
from benchc.pixels import Pixels


def item_images(row: dict[str, Any], path: Path) -> list[Pixels]:
    """Return the images in ``row["images"]``, uint8[H, W, 3] each; ``row`` is from the table at ``path``.

    Raises InputError where one cannot be decoded.
    """
    try:
        return [decode(image["bytes"]) for image in row["images"]]
    except ImageError as error:
        raise InputError(
            f"{path}: item {row['id']!r}: {error}; delete the file and run snakemake again"
        ) from error
