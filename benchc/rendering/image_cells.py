"""Many images with their names, side by side with those of their group."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchc.pixels import Pixels
from benchc.rendering.contact_pages import pages_of
from benchc.rendering.labels import renderable
from benchc.rendering.style import FAINT, INK, NORMAL, TEXT_WIDTH, new_figure, styled
from benchc.rendering.wrap import wrap

# Inches.
IN_A_ROW = 8
GAP = 0.04  # between images
MARGIN = 0.03
HEAD, NAME = 0.24, 0.25
MOST_HEIGHT = 1.2  # of an image, in its widths

Cell = tuple[str, str, Pixels]  # the image's group, which may be empty, its name, and uint8[H, W, 3]


def plot_cells(
    cells: Sequence[Cell], note: str = "", *, in_a_row: int = IN_A_ROW, points: float = NORMAL - 0.5
) -> Figure:
    """Plot images with their groups above and their names below.

    ``note``: a line below all; ``in_a_row``: at most; ``points``: size of the names.
    Cells have the shape of the image of median shape; each image fills its cell as far as its own allows.
    """
    rows = pages_of([group for group, *_ in cells], in_a_row)
    aspect = float(np.median([image.shape[0] / image.shape[1] for *_, image in cells]))
    side = (TEXT_WIDTH - 2 * MARGIN + GAP) / max(map(len, rows)) - GAP
    side = min(side, (TEXT_WIDTH - 2 * MARGIN + GAP) / 4 - GAP)
    tall = side * min(aspect, MOST_HEIGHT)
    height = 2 * MARGIN + len(rows) * (HEAD + tall + NAME) + (0.12 if note else 0)
    with styled():
        figure = new_figure(TEXT_WIDTH, height)
        figure.set_layout_engine("none")  # positions are explicit
        for number, row in enumerate(rows):
            top = MARGIN + number * (HEAD + tall + NAME)
            groups: dict[str, list[int]] = {}
            for column, place in enumerate(row):
                group, name, image = cells[place]
                groups.setdefault(group, []).append(column)
                left = MARGIN + column * (side + GAP)
                bottom = height - top - HEAD - tall
                own = image.shape[0] / image.shape[1]
                wide, high = min(side, tall / own), min(tall, side * own)
                axes = figure.add_axes(
                    (
                        (left + (side - wide) / 2) / TEXT_WIDTH,
                        (bottom + (tall - high) / 2) / height,
                        wide / TEXT_WIDTH,
                        high / height,
                    )
                )
                # A smaller image is enlarged without smoothing.
                axes.imshow(image, aspect="auto", interpolation="nearest" if len(image) < 200 else None)
                axes.set(xticks=[], yticks=[])
                axes.spines[:].set(visible=True, color=FAINT, linewidth=0.3)
                lines = wrap(renderable([name])[0], inches=side, points=points, lines=2)
                for line, text in enumerate(lines):
                    _text(figure, left + side / 2, bottom - 0.1 * (line + 1), text, fontsize=points)
            for group, columns in groups.items():
                if group:
                    _head(figure, group, columns, side, height - top)
        if note:
            _text(figure, MARGIN, MARGIN + 0.02, note, ha="left")
    return figure


def _head(figure: Figure, group: str, columns: Sequence[int], side: float, top: float) -> None:
    """Write the name of a group above a line over its images; ``top``: inches from below."""
    left, right = (MARGIN + column * (side + GAP) for column in (columns[0], columns[-1] + 1))
    right -= GAP
    _text(figure, (left + right) / 2, top - HEAD + 0.1, group, fontweight="bold")
    width, height = figure.get_size_inches()
    y = (top - HEAD + 0.06) / height
    figure.add_artist(Line2D([left / width, right / width], [y, y], color=FAINT, linewidth=0.8))


def _text(figure: Figure, x: float, y: float, text: str, **options: Any) -> None:
    width, height = figure.get_size_inches()
    look: dict[str, Any] = {"ha": "center", "va": "baseline", "fontsize": NORMAL - 0.5, "color": INK}
    figure.text(x / width, y / height, text, **{**look, **options})
