"""Relative drop in accuracy of every model under every corruption."""

import matplotlib
import numpy as np
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from benchc.benchmarks.vqa_robustness.inputs import ErrorTable
from benchc.benchmarks.vqa_robustness.metrics.drops import drops
from benchc.benchmarks.vqa_robustness.tables.names import words
from benchc.rendering.groups import grouped
from benchc.rendering.heat_map import colour_bar, heat_map
from benchc.rendering.style import TEXT_WIDTH, new_figure, styled

# One hue: the darker, the larger the drop; no drop and gains are white. Numbers on the darker half would be
# hard to read: near mid-blue neither black nor white has much contrast.
COLOUR_MAP = ListedColormap(matplotlib.colormaps["Blues"](np.linspace(0, 0.55, 256)))
LEAST_DROP = 0.05  # at the dark end, so that noise stays pale


def figure_heatmap(errors: ErrorTable, groups: dict[str, str]) -> Figure:
    """Plot the relative drop from clean to mean accuracy, in per cent; ``groups``: each corruption's class.

    The mean accuracy is over the levels 0 to 5. A cell of a model without clean accuracy is empty.
    """
    places = grouped(errors.corruptions, groups)
    order = [place for members in places.values() for place in members]
    values = drops(errors.values).cell_drop[:, order]
    norm = Normalize(0, max(LEAST_DROP, float(np.nan_to_num(values).max())), clip=True)
    with styled():
        figure = new_figure(TEXT_WIDTH, 1.45 + 0.18 * len(errors.models))
        axes = figure.subplots()
        heat_map(
            axes,
            values,
            errors.models,
            [words(errors.corruptions[place]) for place in order],
            norm=norm,
            colours=COLOUR_MAP,
            text=lambda value: f"{100 * value + 0.0:.1f}".replace("-", "−").replace("−0.0", "0.0"),
            groups={name: len(members) for name, members in places.items()},
        )
        per_cent = PercentFormatter(1.0, decimals=0)
        label = "relative drop (a gain is white)"
        colour_bar(axes, norm, COLOUR_MAP, label, pad=0.01, aspect=12, format=per_cent)
    return figure
