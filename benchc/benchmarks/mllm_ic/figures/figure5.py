"""Figure 5: an image under some corruptions at each severity."""

from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from benchc.benchmarks.mllm_ic.corruption_tree import corruption_label
from benchc.benchmarks.mllm_ic.schemas.gallery import GALLERY
from benchc.corruptions.recipe import CLEAN
from benchc.images import decode
from benchc.rendering.contact_sheet import Row, contact_sheet
from benchc.schemas.parquet import read_table


def figure5(gallery: Path, types: list[str], categories: dict[str, str]) -> Figure:
    """Plot the image of the gallery, and what each of some corruptions makes of it.

    Args:
        gallery: gallery.parquet
        types: the corruptions.
        categories: the category of each corruption.
    """
    images = read_table(gallery, GALLERY)
    rows = []
    for name in types:
        own = images.filter(corruption=name).sort("severity")
        shown = [decode(image["bytes"]) for image in own["image"]]
        rows.append(Row(corruption_label(categories[name]), corruption_label(name), shown))
    severities = sorted(images.filter(pl.col("corruption").is_in(types))["severity"].unique())
    clean = decode(images.filter(corruption=CLEAN)["image"][0]["bytes"])
    return contact_sheet(clean, rows, severities=severities)
