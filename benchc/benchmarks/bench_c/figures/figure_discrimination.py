"""How well the selected set distinguishes models, compared with random subsets of the pool."""

from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from benchc.benchmarks.bench_c.inputs import Printed
from benchc.pluralize import pluralize
from benchc.rendering.style import (
    BLUE,
    FAINT,
    INK,
    NORMAL,
    POOL_FILL,
    SKY_BLUE,
    SMALL,
    TEXT_WIDTH,
    new_figure,
    styled,
)

# (criterion, title, label of its axis).
PANELS = (
    ("sd", "(a) Spread of the targets", "SD / median of random subsets"),
    ("separable", "(b) Separable pairs of targets", "share of pairs, in [0, 1]"),
    ("kendall", "(c) Order of the targets", "τ-b with the pool's order, in [−1, 1]"),
)
METRICS = {
    "acc_clean": "clean accuracy",
    "acc_corrupted": "corrupted accuracy",
    "delta_acc": "ΔAcc",
    "ras": "RAS",
}
WEIGHTINGS = ("unweighted", "kappa")
WEIGHTED = "κ-weighted"
CALIBRATED = "unweighted"  # the weighting under which the share below is 0.5 by chance
STEP, GAP = 1.0, 0.4  # between rows, and more between metrics
MARKER: dict[str, Any] = {
    "marker": "D",
    "markersize": 4.0,
    "markerfacecolor": SKY_BLUE,
    "markeredgecolor": BLUE,
    "markeredgewidth": 0.8,
}


def figure_discrimination(discrimination: Printed) -> Figure:
    """Plot each criterion in a panel, each metric and weighting in a row.

    ``discrimination``: a table of ``metrics.discrimination``. Boxes span the quartiles of random subsets of
    the pool, lines are their medians, whiskers contain 95 % of them; the diamond is the selected set or,
    where its subsets are compared, their median, drawn below the box with a line that contains 95 % of them.
    On the right of unweighted rows: the share of random subsets with a lower value (ties half). Standard
    deviations are divided by the median of random subsets, so that metrics share an axis. A note below counts
    the evaluated items if some were not; for one target there is a sentence and no panel.
    """
    if discrimination["models"][0] < 2:
        return _nothing()
    rows = [(metric, weighting) for metric in METRICS for weighting in WEIGHTINGS]
    heights = [number * STEP + number // len(WEIGHTINGS) * GAP for number in range(len(rows))]
    with styled():
        figure = new_figure(TEXT_WIDTH, 2.35)
        panels = figure.subplots(1, len(PANELS), sharey=True)
        for axes, (criterion, title, label) in zip(panels, PANELS, strict=True):
            for height, (metric, weighting) in zip(heights, rows, strict=True):
                row = discrimination.row(
                    by_predicate=(pl.col("criterion") == criterion)
                    & (pl.col("metric") == metric)
                    & (pl.col("weighting") == weighting),
                    named=True,
                )
                _row(axes, height, row, relative=criterion == "sd")
            axes.set_title(title, loc="left")
            axes.set_xlabel(label)
            axes.grid(axis="x")
            axes.tick_params(axis="y", length=0)
            axes.text(1.02, 1.0, "below", transform=axes.transAxes, fontsize=SMALL, color=INK, va="bottom")
        panels[0].axvline(1, color=FAINT, linewidth=0.6, zorder=1)
        panels[0].set_xlim(left=0)
        panels[1].set_xlim(-0.04, 1.04)
        panels[2].set_xlim(right=1.06)
        names = [METRICS[metric] if weighting == "unweighted" else WEIGHTED for metric, weighting in rows]
        panels[0].set_yticks(heights, names)
        panels[0].set_ylim(heights[-1] + 0.7, -0.7)
        items = pluralize(discrimination["size"][0], "item")
        handles: list[Any] = [
            Patch(label=f"random subsets of {items}: quartiles, 95 %", **POOL_FILL),
            _selected_handle(subsets=discrimination["selected_low"].null_count() < discrimination.height),
            Line2D([], [], linestyle="none", label="below: share of random ones below"),
        ]
        figure.legend(
            handles=handles,
            loc="outside lower center",
            ncols=3,
            title=_note(discrimination.row(0, named=True)),
            title_fontsize=NORMAL - 0.5,
        )
    return figure


def _nothing() -> Figure:
    with styled():
        figure = new_figure(TEXT_WIDTH, 0.5)
        sentence = "With one target there is nothing to distinguish."
        figure.text(0.5, 0.5, sentence, color=INK, ha="center", va="center")
    return figure


def _note(row: dict[str, Any]) -> str | None:
    others = row["pool_items"] - row["selected_items"]
    if (row["selected_evaluated"], row["unselected_evaluated"]) == (row["selected_items"], others):
        return None
    return (
        f"Evaluated: {row['selected_evaluated']:,} of {row['selected_items']:,} selected items and "
        f"{row['unselected_evaluated']:,} of {others:,} others."
    )


def _selected_handle(*, subsets: bool) -> Line2D:
    if subsets:
        return Line2D([], [], color=BLUE, linewidth=1.2, label="of the selected set: median, 95 %", **MARKER)
    return Line2D([], [], linestyle="none", label="selected set", **MARKER)


def _row(axes: Any, height: float, row: dict[str, Any], *, relative: bool) -> None:
    scale = row["random_q50"] if relative else 1.0
    share = row["share_below"]
    if row["weighting"] == CALIBRATED:
        axes.text(
            1.02,
            height,
            "–" if share is None else f"{share:.3f}",
            transform=axes.get_yaxis_transform(),
            fontsize=SMALL,
            color=INK,
            va="center",
        )
    if share is None or not scale:
        style: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "ha": "center", "va": "center"}
        style["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        reason = "undefined" if share is None else "median 0"
        axes.text(0.5, height, reason, fontsize=SMALL, color=FAINT, **style)
        return
    # Where two ranges share a row: the box above, the line below.
    box, width, line = (height, 0.62, height)
    if row["selected_low"] is not None:
        box, width, line = height - 0.2, 0.34, height + 0.2
        ends = [row["selected_low"] / scale, row["selected_high"] / scale]
        axes.plot(ends, [line, line], color=BLUE, linewidth=1.2, zorder=3)
    names = {"whislo": "q025", "q1": "q25", "med": "q50", "q3": "q75", "whishi": "q975"}
    axes.bxp(
        [{name: row[f"random_{quantile}"] / scale for name, quantile in names.items()}],
        positions=[box],
        widths=width,
        orientation="horizontal",
        manage_ticks=False,
        showfliers=False,
        patch_artist=True,
        boxprops=POOL_FILL,
        medianprops={"color": INK, "linewidth": 1.0, "solid_capstyle": "butt"},
        whiskerprops={"color": FAINT, "linewidth": 0.6},
        capprops={"color": FAINT, "linewidth": 0.6},
        label=f"{row['metric']} {row['weighting']}",
    )
    axes.plot([row["selected"] / scale], [line], linestyle="none", zorder=4, clip_on=False, **MARKER)
