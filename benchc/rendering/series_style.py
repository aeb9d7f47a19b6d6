"""Colours, markers and lines that tell many models or corruptions apart."""

from typing import Any

import matplotlib

# Petroff, "Accessible Color Sequences for Data Visualization", 2021: ten colours that people with deficient
# colour vision tell apart. The eleventh thing has the first colour, another marker and another line.
COLOURS = matplotlib.color_sequences["petroff10"]
MARKERS = "osv^DPX"
LINES = ("-", "--", ":", "-.")


def series_style(number: int) -> dict[str, Any]:
    """Return the colour and the marker of thing ``number``; equal for none of the first 70."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def line(number: int) -> str:
    """Return the line style of thing ``number``."""
    return LINES[number // len(COLOURS) % len(LINES)]
