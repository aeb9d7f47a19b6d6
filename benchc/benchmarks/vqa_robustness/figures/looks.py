"""Colours, markers and lines that tell many models or corruptions apart."""

from typing import Any

import matplotlib

# The ten colours of Tableau; the eleventh has the first one's, another marker and another line.
COLOURS = matplotlib.colormaps["tab10"].colors  # type: ignore[attr-defined]
MARKERS = "osv^DPX"
LINES = ("-", "--", ":", "-.")


def look(number: int) -> dict[str, Any]:
    """Return the colour and the marker of thing ``number``; equal for none of the first 70."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def line(number: int) -> str:
    """Return the line style of thing ``number``."""
    return LINES[number // len(COLOURS) % len(LINES)]
