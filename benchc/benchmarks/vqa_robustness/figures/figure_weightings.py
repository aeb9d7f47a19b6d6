"""VRE of every model under the six weightings of the paper's study."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from benchc.benchmarks.vqa_robustness.inputs import ErrorTable
from benchc.benchmarks.vqa_robustness.metrics.severity import Levels, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, studied_weights, vre
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors
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


def figure_weightings(
    errors: ErrorTable, chance: ChanceTable, scale_of: list[Path], levels: Levels = "0..5"
) -> Figure:
    """Plot VRE with equal weights and with heavier ones for each metric.

    ``scale_of``: a table of errors whose scale is frozen, or no file.
    """
    own = frozen_scale(scale_of, levels) or Scale.of(severity_metrics(errors.values, levels))
    return plot(marked_errors(errors, chance), levels, own)


def plot(errors: Errors, levels: Levels, scale: Scale) -> Figure:
    """Plot VRE with equal weights, and with 0.6 for one metric and 0.1 for each other; models by equal ones.

    A model without VRE is left out.
    """
    scaled = scale.scaled(severity_metrics(errors.values, levels))
    values = np.stack([vre(scaled, weights).model for weights in studied_weights().values()])
    known = np.flatnonzero(~np.isnan(values[0]))
    order = known[np.argsort(values[0, known], kind="stable")]
    names = shorten_all(renderable([errors.models[number] for number in order]), 22)
    labels = ["equal", *(f"0.6 {header}" for header in HEADERS)]
    with styled():
        figure = new_figure(COLUMN_WIDTH, 0.9 + 0.24 * len(order))
        axes = figure.subplots()
        rows = np.arange(len(order))
        axes.hlines(
            rows, values[:, order].min(axis=0), values[:, order].max(axis=0), color="#D0D0D0", zorder=1
        )
        for row, label, (marker, colour) in zip(values, labels, LOOKS, strict=True):
            axes.scatter(
                row[order], rows, s=14, marker=marker, color=colour, linewidth=0, label=label, zorder=2
            )
        axes.set_yticks(rows, names, family=font_families())
        axes.set_ylim(len(order) - 0.5, -0.5)
        axes.set_xlabel("VRE (lower is more robust)")
        axes.grid(axis="x")
        figure.legend(loc="outside lower center", ncols=3)
    return figure
