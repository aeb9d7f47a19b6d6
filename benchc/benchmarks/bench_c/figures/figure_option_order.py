"""The effect of the order of the options on predictions and on uncertainty."""

from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from benchc.benchmarks.bench_c.inputs import Printed
from benchc.errors import InputError, recreate
from benchc.pluralize import pluralize
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.numbers import signed
from benchc.rendering.style import (
    BLUE,
    COLUMN_WIDTH,
    FAINT,
    INK,
    NORMAL,
    SKY_BLUE,
    SMALL,
    VERMILLION,
    new_figure,
    styled,
)
from benchc.schemas.predictions import CLEAN

LONGEST_LABEL = 20
OFFSET = 0.19  # of the clean row above, and of the corrupted one below a target's middle
HOLLOW: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": BLUE}
FILLED: dict[str, Any] = {"markerfacecolor": BLUE, "markeredgecolor": BLUE}
MARKER: dict[str, Any] = {"marker": "o", "markersize": 3.6, "markeredgewidth": 0.8, "linestyle": "none"}
MEAN_FILL: dict[str, Any] = {"facecolor": SKY_BLUE, "edgecolor": INK, "linewidth": 0.4}
ORDER_FILL: dict[str, Any] = {
    "facecolor": VERMILLION,
    "edgecolor": INK,
    "linewidth": 0.4,
    "hatch": "/////",
}


def figure_option_order(option_order: Printed) -> Figure:
    """Plot every target's changed predictions (a) and the parts of its uncertainty (b).

    ``option_order``: a table of ``metrics.option_order``, of which the rows of clean predictions and of all
    corruptions together are plotted, each target's clean above corrupted. (a) Share of the other circular
    orders whose prediction differs from the given order's, in [0, 1], with its 95 % interval as a line. (b)
    Mean entropy (eq. 6) over all circular orders and, stacked on it, the order part; together the entropy of
    the mean distribution, in [0, 1]. On the right, Spearman's ρ of entropy and changed over corrupted
    predictions. Raises InputError where the table has no target.
    """
    if option_order.is_empty():
        raise InputError(
            f"figure option_order: the table option_order has no target; {recreate('orders', 'tables')}"
        )
    labels = option_order["label"].unique(maintain_order=True).to_list()
    rows = {
        (row["label"], row["corruption"] == CLEAN): row
        for row in option_order.filter(
            (pl.col("corruption") == CLEAN) | pl.col("corruption").is_null()
        ).iter_rows(named=True)
    }
    severity = rows[labels[0], False]["severity"]
    with styled():
        figure = new_figure(COLUMN_WIDTH, 1.05 + 0.24 * max(len(labels), 3))
        left, right = figure.subplots(1, 2, sharey=True)
        for index, label in enumerate(labels):
            for clean in (True, False):
                row = rows[label, clean]
                height = index + (-OFFSET if clean else OFFSET)
                _changed(left, height, row, hollow=clean)
                _parts(right, height, row)
            correlation = rows[label, False]["spearman"]
            right.text(
                1.03,
                index + OFFSET,
                "–" if correlation is None else signed(correlation),
                transform=right.get_yaxis_transform(),
                fontsize=SMALL,
                color=INK,
                va="center",
            )
        right.text(1.03, 1.0, "ρ", transform=right.transAxes, fontsize=SMALL, color=INK, va="bottom")
        _axes(left, "(a) Changed", "share")
        _axes(right, "(b) Uncertainty", "entropy")
        names = shorten_all(renderable(labels), LONGEST_LABEL)
        left.set_yticks(range(len(labels)), names, family=font_families())
        left.set_ylim(len(labels) - 0.45, -0.55)
        handles: list[Any] = [
            Line2D([], [], label="clean (above)", **MARKER, **HOLLOW),
            Line2D([], [], label=f"severity {severity} (below)", **MARKER, **FILLED),
            Patch(label="mean over orders", **MEAN_FILL),
            Patch(label="order part", **ORDER_FILL),
        ]
        items = rows[labels[0], True]["items"]
        figure.legend(
            handles=handles,
            loc="outside lower center",
            ncols=2,
            title=f"{pluralize(items, 'item')} in all circular orders of the options",
            title_fontsize=NORMAL - 0.5,
        )
    return figure


def _changed(axes: Any, height: float, row: dict[str, Any], *, hollow: bool) -> None:
    if row["changed_low"] is not None:
        ends = [row["changed_low"], row["changed_high"]]
        axes.plot(ends, [height, height], color=BLUE, linewidth=0.9, zorder=2)
    fill = HOLLOW if hollow else FILLED
    axes.plot([row["changed"]], [height], zorder=3, clip_on=False, **MARKER, **fill)


def _parts(axes: Any, height: float, row: dict[str, Any]) -> None:
    mean, order = row["entropy_orders"], row["order_part"]
    axes.barh([height], [mean], height=0.3, **MEAN_FILL)
    axes.barh([height], [order], left=[mean], height=0.3, **ORDER_FILL)


def _axes(axes: Any, title: str, label: str) -> None:
    axes.set_title(title, loc="left")
    axes.set_xlabel(f"{label}, in [0, 1]")
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.grid(axis="x", color=FAINT, alpha=0.3)
    axes.tick_params(axis="y", length=0)
