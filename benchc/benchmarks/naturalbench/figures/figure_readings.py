"""G-Acc of each model by each way of reading its predictions."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchc.benchmarks.naturalbench.figures.chance import G_ACC, from_zero, mark_chance
from benchc.benchmarks.naturalbench.metrics.bootstrap import Resamples, estimates
from benchc.benchmarks.naturalbench.metrics.groups import MEASURES
from benchc.benchmarks.naturalbench.scored import CleanScores
from benchc.benchmarks.naturalbench.tables.frames import READINGS
from benchc.command_line import NaturalInt, PositiveInt
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.style import (
    BLUE,
    GREEN,
    INK,
    NORMAL,
    PURPLE,
    SKY_BLUE,
    TEXT_WIDTH,
    VERMILLION,
    new_figure,
    styled,
)

LONGEST_LABEL = 30
# Colour and marker by reading. One tau for each type is nearly one for all, and has no marks.
LOOKS = {
    "decoding": (INK, "o"),
    "deterministic": (BLUE, "s"),
    "post_hoc": (PURPLE, "D"),
    "post_hoc_grey_image": (PURPLE, "d"),
    "global": (SKY_BLUE, "^"),
    "cross_fitted": (GREEN, "<"),
    "sample": (VERMILLION, "v"),
}
SPREAD = 0.66  # of the rows of a model
# More models are on one line each, without intervals.
MOST_SPREAD = 16


def figure_readings(scored: CleanScores, draws: PositiveInt = 2000, seed: NaturalInt = 0) -> Figure:
    """Plot G-Acc of each model, in per cent, by reading, with 95 % intervals from resamples of the groups.

    A model without a reading has no mark there. More than ``MOST_SPREAD`` models have one line each, without
    intervals. The dashed line is chance for independent answers.
    """
    readings = [name for name in LOOKS if name in scored.readings]
    resamples = Resamples(scored.groups.height, draws, seed)
    names = shorten_all(renderable([model.label for model in scored.models.values()]), LONGEST_LABEL)
    spread = len(names) <= MOST_SPREAD
    step = SPREAD / max(1, len(readings)) if spread else 0.0
    with styled():
        row = max(0.3, 0.105 * len(readings)) if spread else 0.17
        figure = new_figure(TEXT_WIDTH, 0.88 + len(names) * row)
        axes = figure.subplots()
        for place, reading in enumerate(readings):
            values = [scored.values(id_, reading)[:, MEASURES.index("g_acc")] for id_ in scored.models]
            found = estimates(resamples.means(np.stack(values, axis=1)))
            heights = np.arange(len(names)) + (place - (len(readings) - 1) / 2) * step
            if spread:
                # A single group has no interval.
                known = ~np.isnan(found.low)
                colour, _ = LOOKS[reading]
                axes.hlines(
                    heights[known], found.low[known], found.high[known], color=colour, linewidth=0.9, zorder=2
                )
            _marks(axes, found.value, heights, reading)
        mark_chance(axes, G_ACC, upright=True)
        axes.set_yticks(range(len(names)), names, family=font_families())
        axes.set_ylim(len(names) - 0.45, -0.55)
        axes.tick_params(axis="y", length=0)
        for height in np.arange(0.5, len(names) - 1):
            axes.axhline(height, color="#E4E4E4", linewidth=0.5, zorder=0)
        from_zero(axes.set_xlim, axes.get_xlim()[1])
        axes.set_xlabel("G-Acc (%)")
        axes.grid(axis="x")
        figure.legend(
            loc="outside lower center",
            ncols=4,
            fontsize=NORMAL - 0.5,
            title="Reading",
            title_fontsize=NORMAL - 0.5,
        )
    return figure


def _marks(axes: Any, values: Any, heights: Any, reading: str) -> None:
    colour, marker = LOOKS[reading]
    known = ~np.isnan(values)
    axes.plot(
        values[known],
        heights[known],
        color=colour,
        marker=marker,
        markersize=3.4,
        markeredgewidth=0,
        linestyle="none",
        zorder=3,
        label=READINGS[reading],
        clip_on=False,
    )
