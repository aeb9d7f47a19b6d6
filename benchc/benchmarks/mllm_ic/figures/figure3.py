"""Figure 3: a map of the scenarios by what a network sees in their pictures."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchc.benchmarks.mllm_ic.corruption_tree import corruption_label
from benchc.benchmarks.mllm_ic.schemas.hierarchy import TSNE
from benchc.corruptions.recipe import CLEAN
from benchc.rendering.noted_figure import sentence
from benchc.rendering.point_labels import label_points
from benchc.rendering.series_style import COLOURS
from benchc.rendering.style import FAINT, INK, SMALL, TEXT_WIDTH, new_figure, styled
from benchc.schemas.parquet import read_footer, read_table

MARKERS = {"global": "o", "regional": "s", "pixel": "^"}
SIZES = 2.4, 5.0  # points, of the mildest and the strongest severity


def figure3(tsne: Path) -> Figure:
    """Plot the scenarios of tsne.parquet: one line a corruption, from its mildest severity on."""
    footer = read_footer(tsne)
    if footer.get("missing"):
        return sentence(f"Figure 3 is not made: {footer['missing']}.")
    rows = read_table(tsne, TSNE)
    with styled():
        figure = new_figure(TEXT_WIDTH, 4.6)
        axes = figure.subplots()
        _plot(axes, rows)
        axes.set(xticks=[], yticks=[], title=f"{footer['network']}, {footer['pictures']}")
        axes.spines[:].set(visible=True, color=FAINT)
        axes.margins(0.06, 0.05)
        _legend(figure, rows)
        last = rows.filter(pl.col("corruption") != CLEAN).unique(
            "corruption", keep="last", maintain_order=True
        )
        named = [*last.iter_rows(named=True), *rows.filter(corruption=CLEAN).iter_rows(named=True)]
        label_points(
            axes,
            np.array([[row["x"], row["y"]] for row in named]),
            [corruption_label(row["corruption"]) for row in named],
            size=SMALL - 0.5,
            marker=SIZES[1],
        )
    return figure


def _plot(axes: Any, rows: pl.DataFrame) -> None:
    colours = _colours(rows)
    for (name,), own in rows.group_by("corruption", maintain_order=True):
        own = own.sort("severity")
        x, y = own["x"].to_numpy(), own["y"].to_numpy()
        if name == CLEAN:
            axes.plot(x, y, marker="*", color=INK, markersize=8, linestyle="none", zorder=4)
            continue
        colour, marker = colours[own["category"][0]], MARKERS[own["level"][0]]
        axes.plot(x, y, color=colour, linewidth=0.8, alpha=0.7, zorder=2)
        sizes = np.linspace(*SIZES, own.height) ** 2
        axes.scatter(x, y, s=sizes, color=colour, marker=marker, linewidths=0, zorder=3)


def _legend(figure: Figure, rows: pl.DataFrame) -> None:
    level_of = dict(rows.filter(pl.col("corruption") != CLEAN).select("category", "level").iter_rows())
    handles = [
        Line2D([], [], color=colour, marker=MARKERS[level_of[category]], markersize=4, linewidth=0.8)
        for category, colour in _colours(rows).items()
    ]
    texts = [f"{corruption_label(name)} ({level_of[name]})" for name in _colours(rows)]
    handles.append(Line2D([], [], color=INK, marker="*", markersize=7, linestyle="none"))
    figure.legend(handles, [*texts, "Clean"], loc="outside lower center", ncols=3)


def _colours(rows: pl.DataFrame) -> dict[str, str]:
    """Return the colour of each category, in the order of the run."""
    names = rows["category"].drop_nulls().unique(maintain_order=True)
    return dict(zip(names, COLOURS, strict=False))
