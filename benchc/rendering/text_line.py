"""Write a line of text at a place in inches, in figures without a layout engine."""

from typing import Any

from matplotlib.figure import Figure

from benchc.rendering.labels import font_families
from benchc.rendering.style import INK, SMALL
from benchc.rendering.wrap import MathLine

POINTS = SMALL + 0.5


def write_line(figure: Figure, text: str, x: float, y: float, **style: Any) -> None:
    """Write a line; ``x``, ``y``: its upper left corner, in inches from the lower left one of the figure."""
    width, height = figure.get_size_inches()
    look: dict[str, Any] = {"fontsize": POINTS, "color": INK, "va": "top", "family": font_families(), **style}
    figure.text(x / width, y / height, text, parse_math=isinstance(text, MathLine), **look)
