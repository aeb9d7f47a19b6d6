"""Figure 7: the benchmark's items by source, and the distribution of kappa."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from benchc.benchmarks.bench_c.figures.selected_items import with_kept
from benchc.benchmarks.bench_c.inputs import PoolTasks, Selected
from benchc.errors import InputError
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.style import (
    BENCHMARK_FILL,
    BLUE,
    FAINT,
    INK,
    NORMAL,
    ORIGINAL_FILL,
    POOL_FILL,
    SMALL,
    TEXT_WIDTH,
    new_figure,
    styled,
)
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import read_table

BINS = 20
SETS = (("data set", ORIGINAL_FILL), ("candidate pool", POOL_FILL), ("benchmark", BENCHMARK_FILL))


def figure7(sources: list[Path], pool: PoolTasks, selected: Selected, labels: dict[str, str]) -> Figure:
    """Plot the items of each source in data set, pool and benchmark, and the distribution of kappa.

    ``sources``: {source}.parquet of every source; ``labels``: their names by id.
    """
    originals = {path.stem: read_table(path, ITEMS, ["id"]).height for path in sources}
    return plot(originals, pool, selected, labels=labels)


def plot(
    originals: Mapping[str, int], pool: pl.DataFrame, selected: pl.DataFrame, *, labels: Mapping[str, str]
) -> Figure:
    """Plot (a) the items of each source in data set, pool and benchmark, and (b) kappa in pool and benchmark.

    ``originals``: the number of items of each source; ``pool``: at least the columns id and source of a POOL
    table; ``selected``: the SELECTED table of the same items; ``labels``: the sources' names. Sources are
    sorted by their share of the benchmark, which the rightmost label gives in per cent. (b) has 20 equal bins
    over [0, largest kappa]. Raises InputError where the pool has a source that ``originals`` lacks, or the
    two tables have different items. Paper: figure 7 (a, b).
    """
    counts = _counts(originals, pool, selected)
    with styled():
        figure = new_figure(TEXT_WIDTH, max(2.1, 0.75 + 0.3 * len(counts)))
        left, right = figure.subplots(1, 2, width_ratios=(1.55, 1))
        _composition(left, counts, labels)
        _distribution(right, selected)
        totals = [sum(column) for column in zip(*(row[1:] for row in counts), strict=True)] or [0, 0, 0]
        handles: list[Any] = [
            Patch(label=f"{name} (n = {total:,})", **fill)
            for (name, fill), total in zip(SETS, totals, strict=True)
        ]
        handles.append(Line2D([], [], color=INK, linewidth=1.0, linestyle="--", label="mean of κ"))
        figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


def _counts(
    originals: Mapping[str, int], pool: pl.DataFrame, selected: pl.DataFrame
) -> list[tuple[str, int, int, int]]:
    """Return (source, items in data set, in pool, in benchmark), largest part of the benchmark first."""
    items = with_kept(pool.select("id", "source"), selected, figure="figure 7")
    unknown = sorted(set(pool["source"]) - set(originals))
    if unknown:
        raise InputError(
            f"figure 7: the pool has items of {', '.join(unknown)}, whose file is missing; give all sources"
        )
    parts = {
        source: (candidates, kept)
        for source, candidates, kept in items.group_by("source")
        .agg(pl.len(), pl.col("selected").sum())
        .rows()
    }
    rows = [(source, original, *parts.get(source, (0, 0))) for source, original in originals.items()]
    return sorted(rows, key=lambda row: -row[3])


def _composition(axes: Any, counts: list[tuple[str, int, int, int]], labels: Mapping[str, str]) -> None:
    total = sum(kept for *_, kept in counts)
    positions = np.arange(len(counts))
    for index, (name, fill) in enumerate(SETS):
        values = [row[index + 1] for row in counts]
        bars = axes.barh(positions + 0.28 * (index - 1), values, height=0.28, label=name, **fill)
        axes.bar_label(bars, [f"{value:,}" for value in values], padding=1.5, fontsize=SMALL, color=INK)
    for position, (*_, kept) in zip(positions, counts, strict=True):
        axes.annotate(
            f"{100 * kept / total:.1f} %" if total else "–",
            (1.0, position),
            xycoords=("axes fraction", "data"),
            xytext=(2, 0),
            textcoords="offset points",
            ha="left",
            va="center",
            color=BLUE,
            fontsize=NORMAL,
            fontweight="bold",
        )
    names = renderable([labels.get(source, source) for source, *_ in counts])
    axes.set_yticks(positions, shorten_all(names, 30), family=font_families())
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(counts) - 0.4, -0.6)
    axes.set_xlim(0, 1.12 * max([1, *(max(row[1:]) for row in counts)]))
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set_xlabel("number of items")
    axes.set_title("(a) Sources; right: share of the benchmark")


def _distribution(axes: Any, selected: pl.DataFrame) -> None:
    kappa = selected["kappa"].to_numpy()
    kept = kappa[selected["selected"].to_numpy()]
    edges = np.linspace(0, float(kappa.max(initial=0.0)) or 1.0, BINS + 1)
    # Side by side: where one lay over the other, its colour would be that of neither.
    half = np.diff(edges) * 0.45
    means: list[tuple[float, str]] = []
    for name, values, fill, line, left in (
        ("candidate pool", kappa, POOL_FILL, FAINT, edges[:-1] + half / 9),
        ("benchmark", kept, BENCHMARK_FILL, BLUE, edges[:-1] + half * 10 / 9),
    ):
        heights = 100 * np.histogram(values, edges)[0] / max(1, len(values))
        axes.bar(left, heights, half, align="edge", label=name, **fill)
        if len(values):
            means.append((float(values.mean()), name.removeprefix("candidate ")))
            axes.axvline(means[-1][0], color=line, linewidth=1.0, linestyle="--")
    axes.set_xlim(0, edges[-1])
    axes.set_ylim(0, 1.15 * max(1.0, *(bar.get_height() for bar in axes.patches)))
    # In grey print, the colours of the lines do not tell them apart.
    for (mean, name), (side, gap) in zip(sorted(means), (("right", -2), ("left", 2)), strict=False):
        axes.annotate(
            f"{name} {mean:.2f}",
            (mean, 1),
            xytext=(gap, -1),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha=side,
            va="top",
            fontsize=SMALL,
            color=INK,
        )
    axes.set_xlabel("prediction inconsistency κ")
    axes.set_ylabel("share of items (%)")
    axes.set_title("(b) Distribution of κ")
