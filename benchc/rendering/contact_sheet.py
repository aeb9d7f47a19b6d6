"""Contact sheet: one image under many corruptions, at every severity."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchc.errors import InputError
from benchc.pixels import Pixels
from benchc.rendering.labels import font_families, renderable
from benchc.rendering.shorten import shorten
from benchc.rendering.style import FAINT, INK, NORMAL, SMALL, new_figure, styled

# Inches. Names and six images fill the width of the text (style.TEXT_WIDTH).
CELL_WIDTH, CELL_HEIGHT = 0.94, 0.705
GAP = 0.03  # between images
GROUP_GAP = 0.07
GROUP_NAMES, NAMES = 0.3, 0.81
HEADER = 0.17
FOOTER = 0.12
MARGIN = 0.02

LETTER = 0.0085  # mean width of a small letter of one point


@dataclass(frozen=True)
class Row:
    """One corruption: its group, its name, and the image at every severity, mildest first."""

    group: str
    name: str
    images: Sequence[Pixels]


def contact_sheet(clean: Pixels, rows: Sequence[Row], *, severities: Sequence[int], name: str = "") -> Figure:
    """Plot the clean image and the image at every severity, one corruption per row.

    ``clean`` is uint8[H, W, 3]; the images of a row are uint8[h, w, 3], one for each of ``severities``. All
    have the scale at which the clean image fits its cell, so that an image that a corruption made smaller
    appears smaller. Rows must be sorted by group. ``name``, of the image, is in the last line. Raises
    InputError where there is no row, or a row has not one image per severity.
    """
    if not rows:
        raise InputError("contact sheet: no corruption was given; give at least one")
    for row in rows:
        if len(row.images) != len(severities):
            raise InputError(
                f"contact sheet: {row.name} has {len(row.images)} images for {len(severities)} severities; "
                "give one per severity"
            )
    groups = [(group, list(members)) for group, members in groupby(rows, key=lambda row: row.group)]
    width = GROUP_NAMES + NAMES + (1 + len(severities)) * (CELL_WIDTH + GAP) - GAP + MARGIN
    height = HEADER + len(rows) * (CELL_HEIGHT + GAP) + (len(groups) - 1) * GROUP_GAP + FOOTER
    scale = min(CELL_WIDTH / clean.shape[1], CELL_HEIGHT / clean.shape[0])
    with styled():
        sheet = _Sheet(new_figure(width, height), scale)
        for column, text in enumerate(["clean", *(f"severity {severity}" for severity in severities)]):
            sheet.text(_left(column) + CELL_WIDTH / 2, HEADER - 0.05, text, NORMAL, va="baseline")
        top = HEADER
        for group, members in groups:
            bottom = top + len(members) * (CELL_HEIGHT + GAP) - GAP
            sheet.group(group.replace("_", " "), top, bottom)
            for row in members:
                label = _wrapped(row.name.replace("_", " "), NAMES - 0.05, NORMAL - 0.5)
                sheet.text(GROUP_NAMES, top + CELL_HEIGHT / 2, label, NORMAL - 0.5, ha="left")
                for column, image in enumerate((clean, *row.images)):
                    sheet.image(image, _left(column), top)
                top += CELL_HEIGHT + GAP
            top += GROUP_GAP
        longest = int((width - GROUP_NAMES - MARGIN) / (LETTER * SMALL)) - 8
        note = f"image: {shorten(renderable([name])[0], longest)}" if name else ""
        footer: dict[str, Any] = {"ha": "left", "va": "baseline", "family": font_families()}
        sheet.text(GROUP_NAMES, height - 0.03, note, SMALL, **footer)
    return sheet.figure


class _Sheet:
    """A figure with coordinates in inches from its upper left corner."""

    def __init__(self, figure: Figure, scale: float) -> None:
        figure.set_layout_engine("none")  # positions are explicit
        self.figure = figure
        self.width, self.height = figure.get_size_inches()
        self.scale = scale  # inches per pixel

    def text(self, x: float, y: float, text: str, size: float, **options: Any) -> None:
        look: dict[str, Any] = {"ha": "center", "va": "center", "color": INK, "linespacing": 1.1} | options
        self.figure.text(x / self.width, 1 - y / self.height, text, fontsize=size, **look)

    def group(self, name: str, top: float, bottom: float) -> None:
        text = _wrapped(name, bottom - top, NORMAL)
        x = 0.11 if "\n" not in text else 0.125
        self.text(x, (top + bottom) / 2, text, NORMAL, rotation=90, fontweight="bold")
        x = (GROUP_NAMES - 0.05) / self.width
        ends = [1 - top / self.height, 1 - bottom / self.height]
        self.figure.add_artist(Line2D([x, x], ends, color=FAINT, linewidth=0.8))

    def image(self, image: Pixels, left: float, top: float) -> None:
        height, width = (side * self.scale for side in image.shape[:2])
        left += (CELL_WIDTH - width) / 2
        bottom = top + (CELL_HEIGHT + height) / 2
        axes = self.figure.add_axes(
            (left / self.width, 1 - bottom / self.height, width / self.width, height / self.height)
        )
        axes.imshow(image, aspect="auto")
        axes.set(xticks=[], yticks=[])
        # A frame, since some corruptions leave an image as white as the page.
        axes.spines[:].set(visible=True, color=FAINT, linewidth=0.3)


def _left(column: int) -> float:
    return GROUP_NAMES + NAMES + column * (CELL_WIDTH + GAP)


def _wrapped(text: str, width: float, size: float) -> str:
    return "\n".join(textwrap.wrap(text, max(1, int(width / (LETTER * size))), break_long_words=False))
