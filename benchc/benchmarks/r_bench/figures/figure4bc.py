"""Figures 4b and 4c: absolute and relative robustness of models by step."""

from math import ceil

import numpy as np
from matplotlib.figure import Figure

from benchc.benchmarks.r_bench.chance import ChanceTable
from benchc.benchmarks.r_bench.dimensions import STEP_LABELS
from benchc.benchmarks.r_bench.figures.frames import ABSOLUTE, ONLY_STAND_INS, RELATIVE, ranking_of, values_by
from benchc.benchmarks.r_bench.scored import ScoreFiles, scored_of
from benchc.rendering.labels import font_families
from benchc.rendering.noted_figure import noted_figure, sentence
from benchc.rendering.radar import radar
from benchc.rendering.style import NORMAL, styled

MOST = 7  # lines, each with its own marker
OTHERS = "#E2E2E2"


def figure4bc(scores: ScoreFiles, labels: dict[str, str], chance: ChanceTable) -> Figure:
    """Plot R_a and R_r by step, as lines of the ``MOST`` models that rank highest; others are an area."""
    scored = scored_of(scores, labels)
    found, ranking = values_by(scored, "step"), ranking_of(scored, chance)
    if not found.parts:
        return sentence(ONLY_STAND_INS)
    first, others = ranking.order[:MOST], ranking.order[MOST:]
    spokes = [STEP_LABELS[step] for step in found.parts]
    highest = max(float(values.max(initial=0)) for values in (found.absolute, found.relative))
    top = max(1, ceil(10 * highest)) / 10
    ticks = {round(tick, 1): f"{tick:.1f}".lstrip("0") for tick in np.arange(0.2, top + 0.01, 0.2)}
    with styled():
        figure = noted_figure(3.3, ranking.note)
        panels = figure.subplots(1, 2, subplot_kw={"projection": "polar"})
        for axes, letter, title, values in zip(
            panels, "bc", (ABSOLUTE, RELATIVE), (found.absolute, found.relative), strict=True
        ):
            names = ranking.names[:MOST]
            radar(axes, f"({letter}) {title}", spokes, names, values[first].T, limits=(0, top), ticks=ticks)
            if others:
                angles = 2 * np.pi * np.arange(len(spokes) + 1) / len(spokes)
                ends = [np.append(end, end[0]) for end in (values[others].min(0), values[others].max(0))]
                label = f"range of the {len(others)} others"
                axes.fill_between(angles, *ends, color=OTHERS, linewidth=0, label=label, zorder=0)
        figure.legend(
            *panels[0].get_legend_handles_labels(),
            loc="outside lower center",
            ncols=3,
            prop={"family": font_families(), "size": NORMAL - 0.5},
        )
    return figure
