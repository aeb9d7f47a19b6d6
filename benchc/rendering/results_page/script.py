"""Data of the results page as JavaScript files: a page that is opened from disk can load no others."""

import base64
import json
import zlib

import numpy as np
import numpy.typing as npt


def as_script(name: str, value: object) -> str:
    """Return a script that gives the page ``value``, JSON without NaN, under a name."""
    return f"benchcData({as_json(name)}, {as_json(value)});\n"


def as_json(value: object) -> str:
    """Return JSON that ends no script and is one line of JavaScript, whatever its texts are."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c")


def packed(values: npt.NDArray[np.generic]) -> dict[str, str]:
    """Return an array of numbers, little-endian in the order of its axes, compressed and in base64."""
    data = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).tobytes()
    return {"type": values.dtype.name, "deflate": base64.b64encode(zlib.compress(data, 6)).decode()}
