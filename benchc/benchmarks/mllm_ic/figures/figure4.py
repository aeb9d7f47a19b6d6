"""Figure 4: accuracy of each model on clean images and at each severity, with intervals."""

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from benchc.benchmarks.mllm_ic.figures.frames import marked_names
from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles, few_pictures
from benchc.command_line import NaturalInt, PositiveInt
from benchc.rendering.chance import ChanceTable
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.noted_figure import noted_figure
from benchc.rendering.series_style import MARKERS
from benchc.rendering.style import INK, SMALL, TEXT_WIDTH, styled
from benchc.statistics.resampling import percentile_interval

CLUSTER = 0.75  # inches, of a model at most
SPREAD = 0.13  # of a cluster, between two severities
SHADES = (0.0, 0.85)  # of the colour map: from clean to the highest severity


def figure4(
    run: RunFiles, labels: dict[str, str], chance: ChanceTable, draws: PositiveInt, seed: NaturalInt
) -> Figure:
    """Plot the accuracy of each model on clean images, and its mean over corruptions at each severity.

    It is the mean of the mid-level capabilities. Lines are 95 % intervals over ``draws`` resamples of the
    pictures.
    """
    names, note = marked_names(run, labels, chance)
    note = f"{note}{few_pictures(run)}".strip()
    columns = {name: own for name, own in run.columns().items() if name == "clean" or name[:8] == "severity"}
    found = 100 * run.average(run.draws([*labels], columns, draws, seed))
    values = found[0]
    low, high = (
        ends.reshape(values.shape) for ends in percentile_interval(found[1:].reshape(len(found) - 1, -1))
    )
    x = np.arange(len(names))[:, None] + SPREAD * (np.arange(len(columns)) - (len(columns) - 1) / 2)
    colours = colormaps["viridis"](np.linspace(*SHADES, len(columns)))
    with styled():
        width = min(TEXT_WIDTH, max(3.3, 0.5 + CLUSTER * len(names)))
        figure = noted_figure(2.3, note, width)
        axes = figure.subplots()
        axes.plot(x.T, values.T, color="#B0B0B0", linewidth=0.7, zorder=1)
        for place, (name, colour) in enumerate(zip(columns, colours, strict=True)):
            errors = np.stack([values[:, place] - low[:, place], high[:, place] - values[:, place]])
            style: dict[str, Any] = {"color": colour, "markeredgecolor": INK, "markeredgewidth": 0.3}
            axes.errorbar(
                x[:, place],
                values[:, place],
                errors,
                fmt=MARKERS[place % len(MARKERS)],
                markersize=3.4,
                elinewidth=0.7,
                ecolor=INK,
                label=name.replace("_", " "),
                **style,
            )
        for place, (first, last) in enumerate(values[:, [0, -1]]):
            # Over the model's own points, away from the next one's.
            look: dict[str, Any] = {"fontsize": SMALL, "textcoords": "offset points"}
            ends = (x[place, 0], high[place, 0]), (x[place, -1], low[place, -1])
            axes.annotate(f"{first:.1f}", ends[0], (-3, 2), ha="left", va="bottom", **look)
            axes.annotate(f"{last:.1f}", ends[1], (3, -2), ha="right", va="top", **look)
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.margins(y=0.1)
        shown = shorten_all(renderable(names), 20)
        few = width / len(names) > 1.0
        axes.set_xticks(range(len(names)), shown, rotation=0 if few else 25, family=font_families())
        if not few:
            for label in axes.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor")
        axes.tick_params(axis="x", length=0)
        axes.set_ylabel("accuracy (%)")
        axes.grid(axis="y")
        figure.legend(loc="outside lower center", ncols=len(columns) if width > 5 else 3)
    return figure
