"""Figure 1: the ranking and the taxonomy as the data show them."""

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from benchc.benchmarks.r_bench.chance import ChanceTable
from benchc.benchmarks.r_bench.dimensions import STEP_LABELS, dimension
from benchc.benchmarks.r_bench.figures.frames import GROUP_STYLES, group_legend, ranking_of, values_by
from benchc.benchmarks.r_bench.names import named
from benchc.benchmarks.r_bench.scored import ScoreFiles, scored_of
from benchc.rendering.heat_map import heat_map
from benchc.rendering.noted_figure import noted_figure
from benchc.rendering.style import SMALL, styled

COLOURS = "Blues"
MARKER_ROW = -1.05  # above the first row of the heat map, in rows


def figure1(scores: ScoreFiles, labels: dict[str, str], chance: ChanceTable) -> Figure:
    """Plot 100 (R_a + R_r) / 2 of each model, ranked, over all items and under each dimension."""
    scored = scored_of(scores, labels)
    found, ranking = values_by(scored, "overall", "dimension"), ranking_of(scored, chance)
    values = 100 * found.ranking[ranking.order]
    dimensions = [dimension(name) for name in found.parts[1:]]
    groups: dict[str, int] = {"": 1}  # all items
    for one in dimensions:
        step = STEP_LABELS[one.step]
        groups[step] = groups.get(step, 0) + 1
    names = ["all items", *(named(one.name) for one in dimensions)]
    with styled():
        figure = noted_figure(1.75 + 0.16 * len(values), ranking.note)
        axes = figure.subplots()
        heat_map(
            axes,
            values,
            [f"{name}  {rank}" for name, rank in zip(ranking.names, ranking.ranks, strict=True)],
            names,
            norm=Normalize(float(np.nanmin(values)), float(np.nanmax(values))),
            colours=COLOURS,
            text=lambda value: f"{value:.0f}",
            groups=groups,
            points=SMALL,
        )
        axes.set_ylim(len(values) - 0.5, MARKER_ROW - 0.55)
        for place, one in enumerate(dimensions, start=1):
            axes.plot(place, MARKER_ROW, markersize=4, linestyle="none", **GROUP_STYLES[one.group])
        group_legend(figure, dimensions)
    return figure
