"""A radar chart: the values of several things on spokes around a centre."""

from collections.abc import Mapping, Sequence
from math import pi
from typing import Any

import numpy as np
import numpy.typing as npt

from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.series_style import line, series_style
from benchc.rendering.style import FAINT, NORMAL, SMALL


def radar(
    axes: Any,
    title: str,
    spokes: Sequence[str],
    names: Sequence[str],
    values: npt.NDArray[np.float64],
    *,
    limits: tuple[float, float],
    ticks: Mapping[float, str],
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
    axes.set_ylim(*limits)
    axes.set_yticks([*ticks], [*ticks.values()], fontsize=SMALL, color=FAINT)
    axes.set_rlabel_position(180 / len(spokes))
    axes.set_xticks(angles[:-1], spokes, fontsize=SMALL + 0.5)
    axes.tick_params(axis="x", pad=-1)
    # Outside the circle: labels right of it are flush left, those left of it flush right.
    for label, angle in zip(axes.get_xticklabels(), angles, strict=False):
        side = np.sin(angle)
        label.set_horizontalalignment("center" if abs(side) < 1e-9 else "left" if side > 0 else "right")
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
