"""Relative drop in accuracy of every model under every corruption."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from benchc.benchmarks.vqa_robustness.figures.groups import grouped, name_groups
from benchc.benchmarks.vqa_robustness.inputs import ErrorTable
from benchc.benchmarks.vqa_robustness.metrics.drops import drops
from benchc.benchmarks.vqa_robustness.tables.names import words
from benchc.rendering.contrast import text_colour
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.style import SMALL, TEXT_WIDTH, new_figure, styled

COLOUR_MAP = "Blues"  # one hue: the darker, the larger the drop; no drop and gains are white
LEAST_DROP = 0.05  # at the dark end, so that noise stays pale


def figure_heatmap(errors: ErrorTable, groups: dict[str, str]) -> Figure:
    """Plot the relative drop from clean to mean accuracy, in per cent; ``groups``: each corruption's class.

    The mean accuracy is over the levels 0 to 5. A cell of a model without clean accuracy is empty.
    """
    places = grouped(errors.corruptions, groups)
    order = [place for members in places.values() for place in members]
    values = drops(errors.values).cell_drop[:, order]
    with styled():
        figure = new_figure(TEXT_WIDTH, 1.45 + 0.18 * len(errors.models))
        axes = figure.subplots()
        norm = Normalize(0, max(LEAST_DROP, float(np.nan_to_num(values).max())), clip=True)
        axes.imshow(np.ma.masked_invalid(values), cmap=COLOUR_MAP, norm=norm, aspect="auto")
        _numbers(axes, values, norm)
        names = shorten_all(renderable([words(errors.corruptions[place]) for place in order]), 24)
        axes.set_xticks(range(len(order)), names, rotation=40, ha="right", rotation_mode="anchor")
        labels = shorten_all(renderable(errors.models), 34)
        axes.set_yticks(range(len(labels)), labels, family=font_families())
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        ends = np.cumsum([len(members) for members in places.values()])
        starts = ends - [len(members) for members in places.values()]
        spans = {name: (start, end - 1) for name, start, end in zip(places, starts, ends, strict=True)}
        name_groups(axes, spans)
        for end in ends[:-1]:
            axes.axvline(end - 0.5, color="white", linewidth=2.5)
        bar = figure.colorbar(
            matplotlib.cm.ScalarMappable(norm, COLOUR_MAP),
            ax=axes,
            pad=0.01,
            aspect=12,
            format=PercentFormatter(1.0, decimals=0),
        )
        bar.set_label("relative drop (a gain is white)")
        bar.outline.set_visible(False)
    return figure


def _numbers(axes: Any, values: np.ndarray, norm: Normalize) -> None:
    colours = matplotlib.colormaps[COLOUR_MAP]
    for row, column in np.argwhere(~np.isnan(values)):
        value = values[row, column]
        text = f"{100 * value + 0.0:.1f}".replace("-", "−").replace("−0.0", "0.0")
        colour = text_colour(colours(norm(value)))
        axes.text(column, row, text, ha="center", va="center", fontsize=SMALL + 0.5, color=colour)
