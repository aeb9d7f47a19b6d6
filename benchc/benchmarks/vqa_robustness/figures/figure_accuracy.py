"""Accuracy and VRE of every model."""

from math import ceil
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from benchc.benchmarks.vqa_robustness.inputs import ErrorTable, Intervals
from benchc.benchmarks.vqa_robustness.metrics.severity import Levels, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import EQUAL, Scale, vre, weights_of
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors
from benchc.benchmarks.vqa_robustness.schemas.intervals import ACCURACY, MODEL, ends
from benchc.benchmarks.vqa_robustness.tables.frames import frozen_scale, marked_errors
from benchc.rendering.chance import ChanceTable
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.series_style import series_style
from benchc.rendering.style import COLUMN_WIDTH, NORMAL, new_figure, styled


def figure_accuracy(
    errors: ErrorTable,
    chance: ChanceTable,
    intervals: Intervals,
    scale_of: list[Path],
    weights: tuple[float, ...] = EQUAL,
    levels: Levels = "0..5",
) -> Figure:
    """Plot each model's mean accuracy against its VRE, with 95 % intervals of both.

    ``scale_of``: a table of errors whose scale is frozen, or no file.
    """
    own = frozen_scale(scale_of, levels) or Scale.of(severity_metrics(errors.values, levels))
    marked = intervals.with_columns(name=chance.marked(intervals["name"]))
    return plot(marked_errors(errors, chance), weights, levels, own, marked)


def plot(
    errors: Errors,
    weights: tuple[float, ...],
    levels: Levels,
    scale: Scale,
    intervals: pl.DataFrame | None = None,
) -> Figure:
    """Plot each model's mean accuracy over all corruptions and levels 0 to 5 against its VRE.

    ``intervals``: ``INTERVALS`` of these models, shown as lines. A model without VRE is left out.
    """
    found = vre(scale.scaled(severity_metrics(errors.values, levels)), weights_of(weights)).model
    accuracy = 1 - errors.values.mean(axis=(1, 2))
    known = np.flatnonzero(~np.isnan(found))
    names = shorten_all(renderable([errors.models[number] for number in known]), 22)
    with styled():
        figure = new_figure(COLUMN_WIDTH, 2.2 + 0.13 * ceil(len(known) / 3))
        axes = figure.subplots()
        for place, number in enumerate(known):
            colour = series_style(int(number))["color"]
            if intervals is not None:
                model = [errors.models[number]]
                (left,), (right,) = ends(intervals, ACCURACY, model)
                (low,), (high,) = ends(intervals, MODEL, model)
                axes.hlines(found[number], left, right, color=colour, linewidth=0.9, zorder=1)
                axes.vlines(accuracy[number], low, high, color=colour, linewidth=0.9, zorder=1)
            axes.scatter(
                accuracy[number],
                found[number],
                s=18,
                **series_style(int(number)),
                linewidth=0,
                zorder=2,
                label=names[place],
            )
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.set_xlabel("mean accuracy")
        axes.set_ylabel("VRE (lower is more robust)")
        axes.grid()
        figure.legend(
            loc="outside lower center", ncols=3, prop={"family": font_families(), "size": NORMAL - 0.5}
        )
    return figure
