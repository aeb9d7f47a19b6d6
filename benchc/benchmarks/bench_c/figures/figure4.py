"""Figure 4: the shifts of a target's predictions under one corruption, in the (ΔS, ΔC) plane."""

import math
from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchc.benchmarks.bench_c.figures.regimes import COLOURS, MEANINGS
from benchc.benchmarks.bench_c.inputs import Scores
from benchc.errors import InputError
from benchc.rendering.labels import font_families, isolated, renderable
from benchc.rendering.numbers import signed
from benchc.rendering.style import FAINT, INK, NORMAL, SMALL, TEXT_WIDTH, new_figure, styled

# Signs of (ΔS, ΔC) of each regime; 0 counts as negative.
QUADRANTS = {"overconfident": (-1, 1), "degraded": (1, 1), "stable": (-1, -1), "hesitant": (1, -1)}
MARKERS = {"RR": "o", "WW": "s", "RW": "v", "WR": "^"}

# Limits of both axes: the smallest that includes all points. Mild corruptions shift samples by hundredths.
LIMITS = (0.1, 0.2, 0.5, 1.0)
# In units of that limit, with room for each quadrant's numbers above and below the points.
Y_LIMIT = 1.62
X_LIMIT = 1.06
LINE_PITCH = 0.14


def figure4(scores: Scores, *, label: str, corruption: str, severity: int) -> Figure:
    """Plot one target's samples under one corruption and severity in the (ΔS, ΔC) plane, in three panels.

    ``scores`` is the target's SCORES table and ``label`` its name. Panels: all samples; those whose predicted
    option stays the same; those whose predicted option changes. Colours are regimes, markers transitions;
    each quadrant shows its count and unweighted means of RAS (eq. 10) and ΔAcc (correct minus correct when
    clean). Raises InputError where a table that is not empty has no row of that corruption and severity.
    Paper: figure 4 (a-c).
    """
    samples = scores.filter(pl.col("corruption") == corruption, pl.col("severity") == severity)
    if scores.height and not samples.height:
        present = scores.select("corruption", "severity").unique().sort("corruption", "severity").rows()
        raise InputError(
            f"figure 4: {label} has no scores for {corruption} at severity {severity}; its table has "
            + ", ".join(f"{name} {level}" for name, level in present)
        )
    kept = pl.col("prediction") == pl.col("prediction_clean")
    panels = (
        ("(a) All samples", samples),
        ("(b) Prediction unchanged", samples.filter(kept)),
        ("(c) Prediction shifted", samples.filter(~kept)),
    )
    with styled():
        figure = new_figure(TEXT_WIDTH, 3.25)
        name = isolated(renderable([label])[0])
        figure.suptitle(
            f"{name}, {corruption.replace('_', ' ')} at severity {severity}",
            fontsize=NORMAL,
            family=font_families(),
        )
        grid = figure.subplots(1, 3, sharex=True, sharey=True)
        limit = _limit(samples)
        for axes, (title, rows) in zip(grid, panels, strict=True):
            _panel(axes, title, rows, limit)
        grid[0].set_ylabel("shift in calibration error, ΔC")
        handles = [
            Line2D([], [], marker=marker, linestyle="", color=INK, markersize=3.5, label=MEANINGS[transition])
            for transition, marker in MARKERS.items()
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


def _limit(samples: pl.DataFrame) -> float:
    shifts = samples.select("delta_entropy", "delta_calibration").to_numpy()
    farthest = float(abs(shifts).max(initial=0.0))
    return next((limit for limit in LIMITS if limit >= farthest), LIMITS[-1])


def _panel(axes: Any, title: str, samples: pl.DataFrame, limit: float) -> None:
    axes.axhline(0, color=FAINT, linewidth=0.6, zorder=1)
    axes.axvline(0, color=FAINT, linewidth=0.6, zorder=1)
    for regime, (x_sign, y_sign) in QUADRANTS.items():
        rows = samples.filter(pl.col("regime") == regime)
        for transition, marker in MARKERS.items():
            points = rows.filter(pl.col("transition") == transition)
            if points.height:
                axes.scatter(
                    points["delta_entropy"],
                    points["delta_calibration"],
                    s=7,
                    marker=marker,
                    facecolor=COLOURS[regime],
                    edgecolor="white",
                    linewidth=0.2,
                    alpha=0.75,
                    zorder=2,
                    label=f"{regime} {transition}",
                )
        horizontal = "left" if x_sign < 0 else "right"
        edge = x_sign * (X_LIMIT - 0.03) * limit
        lines = [
            (regime.capitalize(), COLOURS[regime], NORMAL, "bold"),
            *((line, INK, SMALL + 0.5, "normal") for line in _numbers(rows, samples.height)),
        ]
        top = (Y_LIMIT - 0.03 if y_sign > 0 else -1.06) * limit
        for row, (text, colour, size, weight) in enumerate(lines):
            axes.text(
                edge,
                top - LINE_PITCH * row * limit,
                text,
                color=colour,
                fontsize=size,
                fontweight=weight,
                ha=horizontal,
                va="top",
            )
    axes.set_title(f"{title} (n = {samples.height:,})")
    axes.set_xlim(-X_LIMIT * limit, X_LIMIT * limit)
    axes.set_ylim(-Y_LIMIT * limit, Y_LIMIT * limit)
    ticks = [part * limit for part in (-1, -0.5, 0, 0.5, 1)]
    texts = [f"{tick:g}".replace("-", "−") for tick in ticks]
    axes.set_xticks(ticks, texts)
    axes.set_yticks(ticks, texts)
    axes.set_xlabel("shift in uncertainty, ΔS")


def _numbers(rows: pl.DataFrame, total: int) -> list[str]:
    if not rows.height:
        return ["n = 0", "RAS –", "ΔAcc –"]
    # fsum is exact, so no printed digit depends on the order of the rows.
    ras = math.fsum(rows["ras"]) / rows.height
    accuracy = (sum(rows["correct"]) - sum(rows["correct_clean"])) / rows.height
    return [
        f"n = {rows.height:,} ({100 * rows.height / total:.0f} %)",
        f"RAS {signed(ras)}",
        f"ΔAcc {signed(accuracy)}",
    ]
