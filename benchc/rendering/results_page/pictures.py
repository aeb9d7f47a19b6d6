"""Images of the sample viewer: a strip has the clean image above all severities of a corruption."""

import bisect
import hashlib
import io
import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from benchc.pixels import Pixels
from benchc.rendering.page_image import SMALL
from benchc.rendering.results_page.declaration import MOST_STRIPS

QUALITY = 75  # of WebP
TALLEST = 16_383  # pixels, of WebP


def picture_name(key: str) -> str:
    """Return the name of an image's files, given its key: 16 hexadecimal digits."""
    return hashlib.blake2b(key.encode(), digest_size=8).hexdigest()


def strip(frames: Sequence[Pixels], longest_side: int) -> bytes:
    """Return frames, uint8[H, W, 3], as one WebP, one below the other, in cells of one size.

    The cell is that of the first frame with sides of at most ``longest_side`` pixels; a frame of another
    shape is centred on grey.
    """
    height, width = frames[0].shape[:2]
    side = min(longest_side, TALLEST // len(frames))
    factor = min(1.0, side / max(height, width))
    cell = max(1, round(factor * width)), max(1, round(factor * height))
    sheet = Image.new("RGB", (cell[0], cell[1] * len(frames)), (128, 128, 128))
    for number, frame in enumerate(frames):
        shown = Image.fromarray(np.ascontiguousarray(frame), "RGB")
        if shown.size != cell:
            fit = min(cell[0] / shown.width, cell[1] / shown.height)
            size = max(1, round(fit * shown.width)), max(1, round(fit * shown.height))
            shown = shown.resize(size, Image.Resampling.LANCZOS)
        left, top = ((outer - inner) // 2 for outer, inner in zip(cell, shown.size, strict=True))
        sheet.paste(shown, (left, number * cell[1] + top))
    file = io.BytesIO()
    # Small images stay as they are, since WebP halves the resolution of colour. The default method takes
    # twice as long for 5 % fewer bytes.
    sheet.save(file, "WEBP", quality=QUALITY, method=2, lossless=max(cell) <= SMALL)
    return file.getvalue()


def shown_corruptions(groups: Mapping[str, str], images: Mapping[str, int]) -> list[str]:
    """Return as many corruptions as the page has room for, one of each group in turn, in the run's order.

    ``groups``: the group of each corruption; ``images``: how many images are shown under it. At least one.
    """
    by_group: dict[str, list[str]] = {}
    for name, group in groups.items():
        by_group.setdefault(group, []).append(name)
    turns = itertools.zip_longest(*by_group.values())
    order = [name for turn in turns for name in turn if name is not None]
    strips = list(itertools.accumulate(images[name] for name in order))
    taken = order[: max(1, bisect.bisect_right(strips, MOST_STRIPS))]
    return [name for name in groups if name in taken]


def write_strip(folder: Path, key: str, corruption: str, frames: Iterable[Pixels], longest_side: int) -> None:
    """Write the strip of an image under a corruption into ``folder``."""
    path = folder / f"{picture_name(key)}_{corruption}.webp"
    path.write_bytes(strip([*frames], longest_side))
