"""Figures 5e and 5f: principal components of the dimensions over models."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchc.benchmarks.r_bench.dimensions import dimension
from benchc.benchmarks.r_bench.figures.frames import (
    ABSOLUTE,
    GROUP_STYLES,
    RELATIVE,
    group_legend,
    too_few,
    values_by,
)
from benchc.benchmarks.r_bench.names import named
from benchc.benchmarks.r_bench.scored import ScoreFiles, scored_of
from benchc.benchmarks.r_bench.tables.frames import notes
from benchc.rendering.noted_figure import noted_figure, sentence
from benchc.rendering.point_labels import label_points
from benchc.rendering.style import FAINT, SMALL, styled
from benchc.statistics.correlations import Components, components

MARKER = 4.0  # points
NAMED = 8  # dimensions with their names, those farthest from the others; the rest have their numbers


def figure5ef(scores: ScoreFiles, labels: dict[str, str]) -> Figure:
    """Plot the first two components of dimensions, rows of a matrix whose columns are models' means."""
    scored = scored_of(scores, labels)
    found = values_by(scored, "dimension")
    if text := too_few(scored.models):
        return sentence(text)
    if len(found.parts) < 2:
        return sentence("One dimension has no principal components; add others.")
    with styled():
        figure = noted_figure(3.4, notes(scored).strip())
        panels = figure.subplots(1, 2)
        every = [components(values.T) for values in (found.absolute, found.relative)]
        for axes, title, each in zip(panels, (f"(e) {ABSOLUTE}", f"(f) {RELATIVE}"), every, strict=True):
            _panel(axes, found.parts, each)
            axes.set_title(title)
        group_legend(figure, [dimension(name) for name in found.parts])
        for axes, each in zip(panels, every, strict=True):
            far = set(np.argsort(-np.hypot(*each.scores.T))[:NAMED].tolist())
            texts = [
                named(name) if place in far else str(dimension(name).number)
                for place, name in enumerate(found.parts)
            ]
            label_points(axes, each.scores, texts, size=SMALL, marker=MARKER)
    return figure


def _panel(axes: Any, names: Sequence[str], found: Components) -> None:
    for name, (x, y) in zip(names, found.scores.tolist(), strict=True):
        style = GROUP_STYLES[dimension(name).group]
        axes.plot(x, y, markersize=MARKER, linestyle="none", **style)
    first, second = (100 * share for share in found.shares)
    axes.set_xlabel(f"principal component 1 ({first:.0f} % of the variance)")
    axes.set_ylabel(f"principal component 2 ({second:.0f} % of the variance)")
    axes.axhline(0, color=FAINT, linewidth=0.4, zorder=0)
    axes.axvline(0, color=FAINT, linewidth=0.4, zorder=0)
    axes.margins(0.12, 0.08)
