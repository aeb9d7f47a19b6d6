"""VRE of every model under the six weightings of the paper's study, with intervals."""

from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from benchc.benchmarks.vqa_robustness.inputs import ErrorTable, Intervals
from benchc.benchmarks.vqa_robustness.metrics.severity import Levels, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, studied_weights, vre
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors
from benchc.benchmarks.vqa_robustness.schemas.intervals import STUDIED, ends
from benchc.benchmarks.vqa_robustness.tables.frames import HEADERS, frozen_scale, marked_errors
from benchc.rendering.chance import ChanceTable
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.style import (
    BLUE,
    COLUMN_WIDTH,
    GREEN,
    INK,
    PURPLE,
    SKY_BLUE,
    VERMILLION,
    new_figure,
    styled,
)

LOOKS = (("o", INK), ("s", BLUE), ("v", SKY_BLUE), ("^", GREEN), ("D", VERMILLION), ("P", PURPLE))


SPREAD = 0.72  # of the rows of a model
MOST_SPREAD = 16  # models with a line for each weighting; those of more would be a page


def figure_weightings(
    errors: ErrorTable,
    chance: ChanceTable,
    intervals: Intervals,
    scale_of: list[Path],
    levels: Levels = "0..5",
) -> Figure:
    """Plot VRE with equal weights and with heavier ones for each metric, with 95 % intervals.

    ``scale_of``: a table of errors whose scale is frozen, or no file.
    """
    own = frozen_scale(scale_of, levels) or Scale.of(severity_metrics(errors.values, levels))
    marked = intervals.with_columns(name=chance.marked(intervals["name"]))
    return plot(marked_errors(errors, chance), levels, own, marked)


def plot(errors: Errors, levels: Levels, scale: Scale, intervals: pl.DataFrame | None = None) -> Figure:
    """Plot VRE with equal weights, and with 0.6 for one metric and 0.1 for each other; models by equal ones.

    ``intervals``: ``INTERVALS`` of these models; without them, and where there are more than ``MOST_SPREAD``
    models, each model has one line. A model without VRE is left out.
    """
    scaled = scale.scaled(severity_metrics(errors.values, levels))
    weightings = studied_weights()
    values = np.stack([vre(scaled, weights).model for weights in weightings.values()])
    known = np.flatnonzero(~np.isnan(values[0]))
    order = known[np.argsort(values[0, known], kind="stable")]
    models = [errors.models[number] for number in order]
    labels = ["equal", *(f"0.6 {header}" for header in HEADERS)]
    spread = intervals is not None and len(order) <= MOST_SPREAD
    step = SPREAD / len(labels) if spread else 0.0
    with styled():
        figure = new_figure(COLUMN_WIDTH, 0.9 + (0.56 if spread else 0.24) * len(order))
        axes = figure.subplots()
        rows = np.arange(len(order))
        if not spread:
            lowest, highest = values[:, order].min(axis=0), values[:, order].max(axis=0)
            axes.hlines(rows, lowest, highest, color="#D0D0D0", zorder=1)
        looks = zip(weightings, values, labels, LOOKS, strict=True)
        for place, (name, row, label, (marker, colour)) in enumerate(looks):
            heights = rows + (place - (len(labels) - 1) / 2) * step
            if intervals is not None and spread:
                low, high = ends(intervals, STUDIED.format(name), models)
                axes.hlines(heights, low, high, color=colour, linewidth=0.9, zorder=1)
            axes.scatter(
                row[order], heights, s=14, marker=marker, color=colour, linewidth=0, label=label, zorder=2
            )
        for height in np.arange(0.5, len(order) - 1):
            axes.axhline(height, color="#E4E4E4", linewidth=0.5, zorder=0)
        axes.set_yticks(rows, shorten_all(renderable(models), 22), family=font_families())
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(order) - 0.5, -0.5)
        axes.set_xlabel("VRE (lower is more robust)")
        axes.grid(axis="x")
        figure.legend(loc="outside lower center", ncols=3)
    return figure
