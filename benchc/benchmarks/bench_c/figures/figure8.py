"""Figure 8: the candidates and the selected items of each task type."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from benchc.benchmarks.bench_c.figures.selected_items import with_kept
from benchc.benchmarks.bench_c.inputs import PoolTasks, Selected
from benchc.rendering.labels import font_families, renderable, shorten_all, spaced, width
from benchc.rendering.style import (
    BENCHMARK_FILL,
    COLUMN_WIDTH,
    INK,
    POOL_FILL,
    SMALL,
    TEXT_WIDTH,
    new_figure,
    styled,
)

LONGEST_NAME_IN_A_COLUMN = 26  # characters
LONGEST_NAME = 60


def figure8(pool: PoolTasks, selected: Selected) -> Figure:
    """Plot each task's candidates (light grey) and, in front, its selected items (hatched), most first.

    ``pool`` has at least the columns id and task of a POOL table, ``selected`` is the SELECTED table of the
    same items. Ties are broken by more candidates, then by name. Each row ends in "selected / candidates".
    Raises InputError where the two tables have different items. Paper: figure 8.
    """
    items = with_kept(pool.select("id", "task"), selected, figure="figure 8")
    tasks = sorted(
        items.group_by("task").agg(pl.len(), pl.col("selected").sum()).rows(),
        key=lambda row: (-row[2], -row[1], row[0]),
    )
    names = shorten_all(renderable([spaced(name) for name, *_ in tasks]), LONGEST_NAME)
    candidates = [count for _, count, _ in tasks]
    kept = [count for *_, count in tasks]
    positions = np.arange(len(tasks))
    longest = max((width(name) for name in names), default=0)
    with styled():
        figure = new_figure(
            COLUMN_WIDTH if longest <= LONGEST_NAME_IN_A_COLUMN else TEXT_WIDTH, 0.75 + 0.125 * len(tasks)
        )
        axes = figure.add_subplot()
        bars = axes.barh(positions, candidates, height=0.76, label="candidates", **POOL_FILL)
        axes.barh(positions, kept, height=0.76, label="benchmark", **BENCHMARK_FILL)
        ends = [f"{few:,} / {all_:,}" for few, all_ in zip(kept, candidates, strict=True)]
        axes.bar_label(bars, ends, padding=1.5, fontsize=SMALL, color=INK)
        axes.set_yticks(positions, names, family=font_families(), fontsize=SMALL + 0.5)
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(tasks) - 0.4, -0.6)
        axes.set_xlim(0, 1.2 * max([1, *candidates]))
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.set_xlabel("number of items")
        handles = [
            Patch(label=f"candidates (n = {sum(candidates):,})", **POOL_FILL),
            Patch(label=f"benchmark (n = {sum(kept):,})", **BENCHMARK_FILL),
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure
