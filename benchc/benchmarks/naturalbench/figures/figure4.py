"""Figure 4 of the paper: accuracy on other benchmarks with the images and without."""

from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from benchc.benchmarks.naturalbench.blind_answers import Answers
from benchc.benchmarks.naturalbench.tables.blind_sources import blind_accuracies
from benchc.command_line import NaturalInt, PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.style import (
    BENCHMARK_FILL,
    FAINT,
    INK,
    POOL_FILL,
    SMALL,
    TEXT_WIDTH,
    VERMILLION,
    new_figure,
    styled,
)

LONGEST_MODEL, LONGEST_SOURCE = 22, 26
IN_A_ROW = 3
MOST_WIDE = 8  # models; more have less room each
NO_PASS = "no pass without an image"
BAR = 0.36  # of the room of a model
BARS = (
    ("seen", "with the images", POOL_FILL, -BAR / 2),
    ("unseen", "without the images", BENCHMARK_FILL, BAR / 2),
)


def figure4(
    answers: Answers, labels: dict[str, str], draws: PositiveInt = 2000, seed: NaturalInt = 0
) -> Figure:
    """Plot the accuracy of each model with the images and without, in per cent, one panel for each source.

    Lines are guessing and the best constant answer; intervals are 95 % from resamples of the items.
    ``labels``: of the sources by id, in order; those without items have no panel.
    """
    frame = blind_accuracies(answers, labels, draws, seed)
    sources = frame["source"].unique(maintain_order=True).to_list()
    names = shorten_all(renderable([*answers.labels.values()]), LONGEST_MODEL)
    titles = shorten_all(renderable(sources), LONGEST_SOURCE)
    columns = min(IN_A_ROW, len(sources))
    rows = -(-len(sources) // columns)
    room = 0.24 if len(names) <= MOST_WIDE else 0.13
    with styled():
        figure = new_figure(TEXT_WIDTH, 0.35 + rows * (0.52 + room * max(2, len(names))))
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for place, (axes, source) in enumerate(zip(grid.flat, sources, strict=False)):
            table = frame.filter(source=source)
            _panel(axes, table)
            axes.set_title(
                f"{titles[place]}: {pluralize(table['items'][0], 'item')}", family=font_families(), loc="left"
            )
            axes.set_yticks(range(len(names)), names, family=font_families())
            if place + columns >= len(sources):
                axes.tick_params(axis="x", labelbottom=True)
                axes.set_xlabel("Accuracy (%)")
        for axes in grid.flat[len(sources) :]:
            axes.set_axis_off()
        axes = grid.flat[0]
        axes.set_ylim(len(names) - 0.45, -0.55)
        axes.set_xlim(0, 100)
        handles, texts = axes.get_legend_handles_labels()
        figure.legend(handles, texts, loc="outside lower center", ncols=len(texts))
    return figure


def _panel(axes: Any, table: pl.DataFrame) -> None:
    """Plot the rows of one source."""
    for measure, label, fill, shift in BARS:
        values = table[measure].to_numpy().astype(np.float64)
        known = np.flatnonzero(~np.isnan(values))
        axes.barh(known + shift, values[known], BAR, label=label, zorder=2, **fill)
        ends = table.select(f"{measure}_low", f"{measure}_high").to_numpy().astype(np.float64)
        spread = [row for row in known if not np.isnan(ends[row]).any()]
        axes.hlines(np.array(spread) + shift, *ends[spread].T, color=INK, linewidth=0.9, zorder=3)
        for row in np.flatnonzero(np.isnan(values)):
            size = SMALL if table.height <= MOST_WIDE else SMALL - 1.5
            axes.text(1, row + shift, NO_PASS, va="center_baseline", fontsize=size, color=FAINT)
    guessing, constant = table.select("guessing", "constant").row(0)
    style: dict[str, Any] = {"linewidth": 1.0, "zorder": 4}
    axes.axvline(guessing, color=VERMILLION, linestyle=":", label="guessing", **style)
    axes.axvline(constant, color=INK, linestyle=(0, (4, 1.5, 1, 1.5)), label="best constant answer", **style)
    axes.grid(axis="x")
    axes.tick_params(axis="y", length=0)
