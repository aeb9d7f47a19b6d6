"""Figure 5: G-Acc of blind models and of models with images, as they are and tuned."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from benchc.benchmarks.naturalbench.figures.chance import G_ACC
from benchc.benchmarks.naturalbench.schemas.halves import HALVES, TEST, TRAIN
from benchc.pluralize import pluralize
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.style import (
    COLUMN_WIDTH,
    GREEN,
    INK,
    NORMAL,
    SKY_BLUE,
    SMALL,
    TEXT_WIDTH,
    VERMILLION,
    new_figure,
    styled,
)
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.printed import read_table_csv

LONGEST_LABEL = 22
MOST_LEVEL = 4  # pairs of bars; the labels of more are upright
WIDTH = 0.36  # of a bar, where the bars of two models are 1 apart
HATCH = {"hatch": "////", "hatchcolor": "white"}  # tells the bars apart in grey print
LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "zero_shot": ("zero-shot", {"facecolor": SKY_BLUE, "edgecolor": INK}),
    "fine_tuned": ("fine-tuned", {"facecolor": GREEN, "edgecolor": INK, **HATCH}),
}


def figure5(table: Path, halves: Path) -> Figure:
    """Plot G-Acc of each model in per cent before and after tuning, with 95 % intervals.

    ``table``: fine_tuning.csv, whose rows are in the order of the bars; ``halves``: HALVES. The dotted line
    is chance.
    """
    ends = [f"{name}{end}" for name in LOOKS for end in ("", "_low", "_high")]
    # A single tested group has no interval: no cell of its columns has a number.
    rows = read_table_csv(table, "model").with_columns(pl.col(ends).cast(pl.Float64))
    models = rows["model"].unique(maintain_order=True).to_list()
    names = dict(zip(models, shorten_all(renderable(models), LONGEST_LABEL), strict=True))
    places = np.arange(rows.height)
    with styled():
        level = rows.height <= MOST_LEVEL
        width = min(TEXT_WIDTH, max(COLUMN_WIDTH, 0.6 + 1.4 * rows.height))
        figure = new_figure(width, 2.3 if level else 3.9)
        axes = figure.subplots()
        for side, (name, (label, look)) in zip((-0.5, 0.5), LOOKS.items(), strict=True):
            _bars(axes, rows, name, places + side * WIDTH, label=label, **look)
        axes.axhline(G_ACC, color=VERMILLION, linewidth=0.9, linestyle=":", zorder=4, label="chance (6.25)")
        axes.set_xticks(
            places,
            [_label(names[model], shown, level=level) for model, shown in rows["model", "input"].iter_rows()],
            family=font_families(),
            rotation=0 if level else 90,
        )
        axes.set_xlim(-0.6, rows.height - 0.4)
        highest = np.nanmax(rows.select(ends).to_numpy())
        axes.set_ylim(0, 1.14 * max(1.3 * G_ACC, highest))
        axes.set_ylabel("G-Acc (%)")
        axes.tick_params(axis="x", length=0)
        axes.grid(axis="y")
        legend = figure.legend(
            loc="outside lower center",
            ncols=3,
            fontsize=NORMAL - 0.5,
            title=_halves_text(halves),
            title_fontproperties={"family": font_families(), "size": NORMAL - 0.5},
        )
        legend.get_title().set_multialignment("center")
    return figure


def _label(model: str, shown: str, *, level: bool) -> str:
    """Return the label of a pair of bars, in two lines if it is ``level``."""
    return f"{model}\n{shown}" if level else f"{model}, {shown}"


def _bars(axes: Any, rows: pl.DataFrame, name: str, places: Any, **look: Any) -> None:
    values, low, high = (rows[f"{name}{end}"].to_numpy() for end in ("", "_low", "_high"))
    axes.bar(places, values, WIDTH, linewidth=0.6, zorder=2, **look)
    for place, value, bottom, top in zip(places, values, low, high, strict=True):
        if top > bottom:
            axes.vlines(place, bottom, top, color=INK, linewidth=0.9, zorder=3)
        axes.annotate(
            f"{value:.1f}",
            (place, max(value, top)),
            xytext=(0, 1.5),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=SMALL,
            zorder=5,
        )


def _halves_text(path: Path) -> str:
    """Return how many groups are in each half, and how many images in both."""
    rows, footer = read_table(path, HALVES), read_footer(path)
    train, test = (rows.filter(half=each).height for each in (TRAIN, TEST))
    return (
        f"Reading: Deterministic. Tuned on {pluralize(train, 'group')},\n"
        f"tested on {test:,} others; "
        f"{footer['in_both']:,} of {pluralize(int(str(footer['images'])), 'image')} in both halves"
    )
