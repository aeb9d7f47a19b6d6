"""A tree of two levels at the left of a figure, with room for what its branches hold at the right."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from benchc.benchmarks.mllm_ic.figures.frames import NO_RING, RING_COLOURS
from benchc.pixels import Pixels
from benchc.rendering.contrast import text_colour
from benchc.rendering.image_grid import plot_images
from benchc.rendering.style import INK, NORMAL, SMALL, TEXT_WIDTH, new_figure
from benchc.rendering.text_line import write_line
from benchc.rendering.wrap import wrap

# Inches.
MARGIN, GAP = 0.03, 0.06
TRUNK, BRANCH = 0.2, 0.92  # widths of the first and the second level
RIGHT = MARGIN + TRUNK + GAP + BRANCH + GAP  # where the branches' contents begin
LINE = 0.105
TINT = 0.75  # of white, in the colour of a branch


class Branch(NamedTuple):
    """A node of the second level: ``trunk`` is the first level's name, ``height`` that of its content."""

    trunk: str
    name: str
    count: str
    height: float


def plot_tree(branches: Sequence[Branch], note: str = "") -> tuple[Figure, list[float]]:
    """Return a figure with the tree, and the height of the upper end of each branch, in inches from below.

    ``note``: a line below all.
    """
    below = MARGIN + (LINE + GAP if note else 0)
    height = below + sum(branch.height + GAP for branch in branches) - GAP + MARGIN
    figure = new_figure(TEXT_WIDTH, height)
    figure.set_layout_engine("none")  # positions are explicit
    tops = []
    top = height - MARGIN
    for trunk, members in groupby(branches, key=lambda branch: branch.trunk):
        colour = RING_COLOURS.get(trunk, NO_RING)
        start = top
        for branch in members:
            tops.append(top)
            _branch(figure, branch, colour, top)
            top -= branch.height + GAP
        end = top + GAP
        _box(figure, MARGIN, end, TRUNK, start - end, colour)
        style: dict[str, Any] = {"rotation": 90, "fontsize": NORMAL, "fontweight": "bold"}
        colour = text_colour((*to_rgb(colour), 1.0))
        _centred(figure, MARGIN + TRUNK / 2, (start + end) / 2, trunk.capitalize(), color=colour, **style)
    if note:
        write_line(figure, note, MARGIN, MARGIN + LINE)
    return figure, tops


def place_image(figure: Figure, image: Pixels, left: float, top: float, width: float, height: float) -> None:
    """Plot an image into a box, whose upper left corner is in inches from the lower left of the figure."""
    wide, high = figure.get_size_inches()
    axes = figure.add_axes((left / wide, (top - height) / high, width / wide, height / high))
    plot_images(axes, [image], width=width, height=height)


def _branch(figure: Figure, branch: Branch, colour: str, top: float) -> None:
    left = MARGIN + TRUNK + GAP
    tint = tuple(TINT + (1 - TINT) * part for part in to_rgb(colour))
    _box(figure, left, top - branch.height, BRANCH, branch.height, tint)
    lines = wrap(branch.name, inches=BRANCH - 0.08, points=NORMAL, lines=3)
    middle = top - branch.height / 2
    style: dict[str, Any] = {"fontsize": NORMAL - 0.5, "fontweight": "bold", "linespacing": 1.2}
    _centred(figure, left + BRANCH / 2, middle + LINE / 2, "\n".join(lines), color=INK, **style)
    below = middle - LINE * len(lines) / 2 - 0.03
    _centred(figure, left + BRANCH / 2, below, branch.count, color=INK, fontsize=SMALL + 0.5)


def _box(figure: Figure, left: float, bottom: float, width: float, height: float, colour: Any) -> None:
    wide, high = figure.get_size_inches()
    corner, sides = (left / wide, bottom / high), (width / wide, height / high)
    figure.add_artist(Rectangle(corner, *sides, facecolor=colour, linewidth=0))


def _centred(figure: Figure, x: float, y: float, text: str, **style: Any) -> None:
    wide, high = figure.get_size_inches()
    figure.text(x / wide, y / high, text, ha="center", va="center", **style)
