"""Small TSVs in VLMEvalKit's form, for the tests of the readers."""

import base64
import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import PIL.Image


def image_bytes(
    colour: tuple[int, int, int] = (200, 30, 30), size: tuple[int, int] = (24, 16), form: str = "PNG"
) -> bytes:
    """Return an encoded image of one colour; its base64 text is longer than 64 characters."""
    file = io.BytesIO()
    PIL.Image.new("RGB", size, colour).save(file, form)
    return file.getvalue()


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


RED = image_bytes()
BLUE = image_bytes((20, 40, 220))


def row(index: object, **values: str) -> dict[str, str]:
    """Return a good row with a red image, changed by ``values`` (``l2``: ``l2-category``)."""
    plain = {"index": str(index), "image": encoded(RED), "question": "Which colour is it?", "hint": ""}
    plain |= {"A": "red", "B": "blue", "C": "", "answer": "A", "category": "colour", "l2-category": "look"}
    return plain | values


def open_row(index: object, **values: str) -> dict[str, str]:
    """Return a row of a file without columns of options, whose answer is a text."""
    plain = row(index, **{"answer": "dark red", **values})
    return {name: value for name, value in plain.items() if name not in ("A", "B", "C")}


def write_tsv(path: Path, rows: Sequence[Mapping[str, object]], **form: Any) -> Path:
    """Write rows as pandas does: by default with quotes only around fields that need them."""
    columns = list(dict.fromkeys(name for values in rows for name in values))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(
            file, columns, restval="", **{"delimiter": "\t", "lineterminator": "\n"} | form
        )
        writer.writeheader()
        writer.writerows(rows)
    return path
