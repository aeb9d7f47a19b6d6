"""A radar chart: the values of several things on spokes around a centre."""

from collections.abc import Mapping, Sequence
from math import pi
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.patheffects import withStroke

from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.series_style import line, series_style
from benchc.rendering.style import FAINT, NORMAL, SMALL

SPOKE_SIZE = SMALL + 0.5
RING = 0.05  # width of the ring, in radii
STEEP = 0.93  # cosine of a spoke's angle to the vertical: a label is above or below the chart, not beside it
MANY = (
    16  # of more spokes, whose number is odd, the two lowest labels are farther, to clear those beside them
)


def radar(
    axes: Any,
    title: str,
    spokes: Sequence[str],
    names: Sequence[str],
    values: npt.NDArray[np.float64],
    *,
    limits: tuple[float, float],
    ticks: Mapping[float, str],
    ring: Sequence[str] = (),
) -> None:
    """Plot ``values``, float64[spokes, names], into polar ``axes``: one line for each name.

    Args:
        axes: of matplotlib's polar projection.
        title: of the chart.
        spokes: their names, clockwise from the top.
        names: of the lines, as a legend shows them.
        values: of the lines at the spokes.
        limits: values at the centre and at the rim.
        ticks: the text at each circle.
        ring: a colour for each spoke, of a ring around the chart; none for no ring.
    """
    angles = 2 * pi * np.arange(len(spokes) + 1) / len(spokes)
    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    for number, (name, own) in enumerate(zip(shorten_all(renderable(names), 20), values.T, strict=True)):
        axes.plot(
            angles,
            np.append(own, own[0]),
            **series_style(number),
            linestyle=line(number),
            linewidth=0.9,
            markersize=2.2,
            label=name,
            clip_on=False,
        )
    if ring:
        # Outside the rim, where nothing is plotted.
        height = RING * (limits[1] - limits[0])
        style = {"color": ring, "linewidth": 0, "clip_on": False}
        axes.bar(angles[:-1], height, 2 * pi / len(spokes), limits[1] + height / 2, **style)
    axes.set_ylim(*limits)
    axes.set_yticks([*ticks], [""] * len(ticks))
    for tick, text in ticks.items():
        # Above the lines, unlike the labels of an axis.
        look = {"fontsize": SMALL, "color": FAINT, "ha": "center", "va": "center", "zorder": 3}
        axes.text(angles[1] / 2, tick, text, path_effects=[withStroke(linewidth=1.5, foreground="w")], **look)
    axes.set_xticks(angles[:-1], spokes, fontsize=SPOKE_SIZE)
    pad = 2 if ring else -1
    axes.tick_params(axis="x", pad=pad)
    # Outside the circle: labels right of it are flush left, those left of it flush right, and those above and
    # below it begin and end there.
    for mark, angle in zip(axes.xaxis.get_major_ticks(), angles, strict=False):
        label, side, height = mark.label1, np.sin(angle), np.cos(angle)
        label.set_linespacing(1.0)
        label.set_horizontalalignment("center" if abs(side) < 1e-9 else "left" if side > 0 else "right")
        if abs(height) > STEEP:
            label.set_verticalalignment("bottom" if height > 0 else "top")
            if height < 0 and len(spokes) > MANY and len(spokes) % 2:
                mark.set_pad(pad + NORMAL)
    axes.grid(color="#D8D8D8", linewidth=0.5)
    axes.spines["polar"].set(color=FAINT, linewidth=0.5)
    axes.set_title(title, pad=8)


def legend_below(axes: Any) -> None:
    """Add the names of the lines below a chart that has some."""
    if not axes.lines:
        return
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.12),
        ncols=2,
        prop={"family": font_families(), "size": NORMAL - 1},
        handlelength=1.4,
        columnspacing=0.8,
    )
