"""The line of chance, and the axis, in figures of G-Acc."""

from collections.abc import Callable
from typing import Any

from benchc.rendering.style import FAINT

G_ACC = 100 / 16  # per cent: four answers by a coin


def mark_chance(axes: Any, value: float, *, upright: bool) -> None:
    """Draw a dashed line at ``value`` (per cent), upright where accuracy is on the horizontal axis."""
    draw = axes.axvline if upright else axes.axhline
    draw(value, color=FAINT, linewidth=0.8, linestyle="--", zorder=1, label="chance")


def from_zero(set_limits: Callable[[float, float], object], top: float) -> None:
    """Let an axis of accuracy begin just below 0, so that a mark at 0 is not on the other axis."""
    set_limits(-0.02 * top, top)
