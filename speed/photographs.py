"""Photographs for measurements: the user's own, or those in scikit-image."""

import base64
import csv
import io
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
from PIL import Image

from benchc.images import Pixels

BUNDLED = ("coffee.png", "rocket.jpg", "chelsea.png", "astronaut.png")
SUFFIXES = (".jpg", ".jpeg", ".png")


def photographs(path: Path | None = None) -> list[tuple[str, bytes]]:
    """Return names and encoded photographs of a folder, including the `image` columns of its TSV files."""
    if path is None:
        data = files("skimage") / "data"
        return [(name, (data / name).read_bytes()) for name in BUNDLED]
    found: list[tuple[str, bytes]] = []
    csv.field_size_limit(sys.maxsize)
    for file in sorted(path.iterdir()):
        if file.suffix.lower() in SUFFIXES:
            found.append((file.name, file.read_bytes()))
        elif file.suffix == ".tsv":
            with file.open(newline="") as lines:
                rows = csv.DictReader(lines, delimiter="\t")
                found += [(f"{file.stem}/{row['index']}", base64.b64decode(row["image"])) for row in rows]
    if not found:
        raise SystemExit(f"{path}: contains no {', '.join(SUFFIXES)} or .tsv file; give another folder")
    return found


def scaled(image: Pixels, width: int, height: int) -> Pixels:
    """Return the centre of ``image`` cropped and resized (Lanczos) to uint8[height, width, 3]."""
    whole = Image.fromarray(image)
    scale = min(whole.width / width, whole.height / height)
    left, top = max(0.0, (whole.width - width * scale) / 2), max(0.0, (whole.height - height * scale) / 2)
    right, bottom = min(whole.width, left + width * scale), min(whole.height, top + height * scale)
    box = (left, top, right, bottom)
    return np.array(whole.resize((width, height), Image.Resampling.LANCZOS, box=box))


def jpeg(pixels: Pixels) -> bytes:
    """Return an image as JPEG of quality 95."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=95)
    return buffer.getvalue()
