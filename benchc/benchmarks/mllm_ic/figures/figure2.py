"""Figure 2: the hierarchy of corruptions, with an image under each."""

from math import ceil
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from benchc.benchmarks.mllm_ic.corruption_tree import corruption_label
from benchc.benchmarks.mllm_ic.figures.frames import levels_together
from benchc.benchmarks.mllm_ic.figures.tree import LINE, MARGIN, RIGHT, Branch, place_image, plot_tree
from benchc.benchmarks.mllm_ic.schemas.gallery import GALLERY
from benchc.images import decode
from benchc.pluralize import pluralize
from benchc.rendering.style import SMALL, TEXT_WIDTH, styled
from benchc.rendering.text_line import write_line
from benchc.schemas.parquet import read_table

# Inches.
GAP = 0.05
MOST_WIDTH = 0.92
MOST_HEIGHT = 0.75  # of an image, in its widths: nine categories fit on a page
MOST_IN_A_ROW = 7


def figure2(gallery: Path, categories: dict[str, str], levels: dict[str, str]) -> Figure:
    """Plot levels, categories and corruptions, each with the image of the gallery at the highest severity.

    Args:
        gallery: gallery.parquet
        categories: the category of each corruption.
        levels: the level of each category.
    """
    rows = read_table(gallery, GALLERY).filter(
        pl.col("severity") == pl.col("severity").max().over("corruption")
    )
    images = {row["corruption"]: decode(row["image"]["bytes"]) for row in rows.iter_rows(named=True)}
    level_of = levels_together(categories, levels)
    members = {own: [name for name, each in categories.items() if each == own] for own in level_of}
    in_a_row = min(MOST_IN_A_ROW, max(map(len, members.values())))
    width = min(MOST_WIDTH, (TEXT_WIDTH - RIGHT - MARGIN + GAP) / in_a_row - GAP)
    aspect = float(np.median([image.shape[0] / image.shape[1] for image in images.values()]))
    height = width * min(MOST_HEIGHT, aspect)
    step = height + LINE + GAP
    branches = [
        Branch(
            level_of[category],
            corruption_label(category),
            pluralize(len(names), "type"),
            ceil(len(names) / in_a_row) * step - GAP,
        )
        for category, names in members.items()
    ]
    with styled():
        figure, tops = plot_tree(branches)
        for names, top in zip(members.values(), tops, strict=True):
            for place, name in enumerate(names):
                row, column = divmod(place, in_a_row)
                left, upper = RIGHT + column * (width + GAP), top - row * step
                place_image(figure, images[name], left, upper, width, height)
                style = {"ha": "center", "fontsize": SMALL + 0.5}
                write_line(figure, corruption_label(name), left + width / 2, upper - height - 0.02, **style)
    return figure
