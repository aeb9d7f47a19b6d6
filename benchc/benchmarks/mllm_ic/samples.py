"""The samples behind the cells of the cube explorer: for each capability and corruption one question."""

import io
import math
from collections.abc import Sequence

import numpy as np
import polars as pl
from PIL import Image

from benchc.pixels import Pixels
from benchc.randomness import seed_of

IN_ALL = 11_500_000  # bytes of pictures: a page of 20 MB has them as text, a third longer, and its numbers
LARGEST_SIDE = 192  # pixels
PER_PIXEL = 0.18  # bytes that a picture needs to be legible
QUALITIES = (70, 50, 30, 15, 5, 0)  # of WebP


def chosen_samples(
    items: pl.DataFrame, corruptions: Sequence[str], severities: Sequence[int], per_capability: int, seed: int
) -> pl.DataFrame:
    """Return the samples as id, corruption and severity, one item for each capability and corruption.

    A capability has the first ``per_capability`` items with different pictures in the order of a hash, and
    each corruption one of them by a hash, at all severities. Models and outcomes do not matter.

    Args:
        items: rows of CAPABILITIES with a capability.
        corruptions: names.
        severities: of the run.
        per_capability: items at most.
        seed: of the hashes.
    """
    order = [seed_of(seed, "sample", id_) for id_ in items["id"]]
    first = items.with_columns(order=pl.Series(order, dtype=pl.UInt64)).sort("order")
    first = first.unique(["capability", "picture"], keep="first", maintain_order=True)
    rows = []
    for (capability,), own in first.group_by("capability", maintain_order=True):
        ids = own["id"].head(per_capability)
        for corruption in corruptions:
            id_ = ids[seed_of(seed, "sample", str(capability), corruption) % len(ids)]
            rows += [(id_, corruption, severity) for severity in severities]
    schema = {"id": pl.String, "corruption": pl.String, "severity": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def thumbnail(image: Pixels, pictures: int) -> bytes:
    """Return ``image``, uint8[H, W, 3], as a WebP that is so small that ``pictures`` of them fit into a page.

    The more pictures, the smaller are its sides; where it is still too large, its quality is lower.
    """
    most = IN_ALL / pictures
    side = min(LARGEST_SIDE, int(math.sqrt(most / PER_PIXEL)))
    shown = Image.fromarray(np.ascontiguousarray(image), "RGB")
    shown.thumbnail((side, side), Image.Resampling.LANCZOS)
    found = b""
    for quality in QUALITIES:
        file = io.BytesIO()
        shown.save(file, "WEBP", quality=quality)
        found = file.getvalue()
        if len(found) <= most:
            break
    return found
