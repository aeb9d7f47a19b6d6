"""Figures with a note above them, and a sentence in the place of a figure that has nothing to plot."""

from matplotlib.figure import Figure

from benchc.rendering.labels import font_families, renderable
from benchc.rendering.style import INK, SMALL, TEXT_WIDTH, new_figure, styled
from benchc.rendering.wrap import wrap

NOTE_SIZE = SMALL + 0.5


def noted_figure(height: float, note: str, width: float = TEXT_WIDTH) -> Figure:
    """Return an empty figure with ``note`` above ``height`` inches for its content."""
    (shown,) = renderable([note])
    lines = wrap(shown, inches=width - 0.2, points=NOTE_SIZE, lines=4)
    figure = new_figure(width, height + 0.12 * len(lines))
    if lines:
        figure.suptitle("\n".join(lines), fontsize=NOTE_SIZE, color=INK, family=font_families())
    return figure


def sentence(text: str) -> Figure:
    """Return a figure that says why it plots nothing."""
    with styled():
        figure = new_figure(TEXT_WIDTH, 0.5)
        figure.text(0.5, 0.5, text, color=INK, ha="center", va="center")
    return figure
