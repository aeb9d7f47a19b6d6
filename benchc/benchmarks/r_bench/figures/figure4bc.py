"""Figures 4b and 4c: absolute and relative robustness of models by step."""

from math import ceil

import numpy as np
from matplotlib.figure import Figure

from benchc.benchmarks.r_bench.dimensions import STEP_LABELS
from benchc.benchmarks.r_bench.figures.frames import ABSOLUTE, RELATIVE, ranked, values_by
from benchc.benchmarks.r_bench.scored import ScoreFiles, scored_of
from benchc.rendering.labels import font_families
from benchc.rendering.radar import radar
from benchc.rendering.style import NORMAL, TEXT_WIDTH, new_figure, styled

MOST = 7  # lines, each with its own marker
OTHERS = "#E2E2E2"


def figure4bc(scored: ScoreFiles, labels: dict[str, str]) -> Figure:
    """Plot R_a and R_r by step, as lines of the ``MOST`` models that rank highest; others are an area."""
    run = scored_of(scored, labels)
    found, order = values_by(run, "step"), ranked(run)
    first, others = order[:MOST], order[MOST:]
    spokes = [STEP_LABELS[step] for step in found.parts]
    highest = max(float(values.max(initial=0)) for values in (found.absolute, found.relative))
    top = max(1, ceil(10 * highest)) / 10
    ticks = {round(tick, 1): f"{tick:.1f}".lstrip("0") for tick in np.arange(0.2, top + 0.01, 0.2)}
    with styled():
        figure = new_figure(TEXT_WIDTH, 3.3)
        panels = figure.subplots(1, 2, subplot_kw={"projection": "polar"})
        for axes, letter, title, values in zip(
            panels, "bc", (ABSOLUTE, RELATIVE), (found.absolute, found.relative), strict=True
        ):
            names = [run.models[place] for place in first]
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
