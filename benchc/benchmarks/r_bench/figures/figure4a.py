"""Figure 4a: absolute and relative robustness of each model, with intervals."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchc.benchmarks.r_bench.chance import ChanceTable
from benchc.benchmarks.r_bench.figures.frames import ABSOLUTE, RELATIVE, ranking_of
from benchc.benchmarks.r_bench.metrics.bootstrap import TAILS_90
from benchc.benchmarks.r_bench.scored import ScoreFiles, scored_of
from benchc.command_line import NaturalInt, PositiveInt
from benchc.rendering.labels import font_families, renderable, shorten_all, width
from benchc.rendering.noted_figure import noted_figure
from benchc.rendering.numbers import number_text
from benchc.rendering.style import (
    BENCHMARK_FILL,
    INK,
    NORMAL,
    POOL_FILL,
    SMALL,
    styled,
)
from benchc.rendering.wrap import LETTER
from benchc.statistics.resampling import Floats, percentile_interval

FIGURE_SPACE = "\N{FIGURE SPACE}"  # as wide as a digit


def figure4a(
    scores: ScoreFiles, labels: dict[str, str], chance: ChanceTable, draws: PositiveInt, seed: NaturalInt
) -> Figure:
    """Plot R_a to the left and R_r to the right, from the highest mean of both to the lowest.

    Lines are from the 5th to the 95th percentile over ``draws`` resamples of the items, the replies to both
    images of an item drawn together.
    """
    scored = scored_of(scores, labels)
    found, ranking = scored.draws(scored.parts(["overall"]), draws, seed), ranking_of(scored, chance)
    order = ranking.order
    names = shorten_all(renderable(ranking.names), 28)
    with styled():
        figure = noted_figure(0.55 + 0.17 * len(names), ranking.note)
        left, right = figure.subplots(1, 2, sharey=True)
        sides: list[tuple[Any, str, dict[str, Any], Floats]] = [
            (left, f"{ABSOLUTE} Rₐ", POOL_FILL, found.absolute[:, order, 0]),
            (right, f"{RELATIVE} Rᵣ", BENCHMARK_FILL, found.relative[:, order, 0]),
        ]
        ends = [percentile_interval(values[1:], tails=TAILS_90) for *_, values in sides]
        # Scores that are all 0 have an axis, too.
        top = 1.18 * max(float(high.max()) for _, high in ends) or 1.0
        for (axes, title, fill, values), (low, high) in zip(sides, ends, strict=True):
            rows = np.arange(len(names))
            axes.barh(rows, values[0], 0.72, **fill)
            axes.hlines(rows, low, high, color=INK, linewidth=0.9)
            axes.plot(low, rows, "|", high, rows, "|", color=INK, markersize=3.5, markeredgewidth=0.9)
            for row, (value, end) in enumerate(zip(values[0], high, strict=True)):
                side = "right" if axes is left else "left"
                text = f" {number_text(float(value), signed=False)} "
                axes.text(end, row, text, ha=side, va="center", fontsize=SMALL + 0.5)
            axes.set(xlim=(0, top), ylim=(len(names) - 0.4, -0.6), title=title)
            axes.xaxis.set_major_formatter("{x:g}")
            axes.tick_params(axis="y", length=0)
            axes.grid(axis="x")
        left.invert_xaxis()
        left.spines.left.set_visible(False)
        left.spines.right.set_visible(True)
        left.tick_params(axis="y", labelleft=False)
        means = (f"{number_text(float(mean), signed=False)}" for mean in found.ranking[0, order, 0])
        half = max(map(width, names)) * LETTER * 72 * NORMAL / 2 + 3  # points, of the longest name
        right.set_yticks(range(len(names)), names, family=font_families(), ha="center")
        right.tick_params(axis="y", labelleft=True, pad=half)
        second = right.secondary_yaxis("right")
        second.set_yticks(
            range(len(names)),
            [f"{rank:{FIGURE_SPACE}>2}   {mean}" for rank, mean in zip(ranking.ranks, means, strict=True)],
        )
        second.tick_params(length=0)
        second.spines[:].set_visible(False)
        right.annotate("rank, mean", (1, 1), (4, 4), xycoords="axes fraction", textcoords="offset points")
    return figure
