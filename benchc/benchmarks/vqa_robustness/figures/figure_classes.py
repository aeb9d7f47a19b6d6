"""Figure A.3: the kinds of questions in the pool."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from benchc.benchmarks.vqa_robustness.inputs import PoolCategories
from benchc.benchmarks.vqa_robustness.metrics.classes import NO_CATEGORY, question_classes
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.style import BLUE, COLUMN_WIDTH, FAINT, INK, SKY_BLUE, SMALL, new_figure, styled

MOST = 24  # categories; smaller ones are one bar


def figure_classes(pool: PoolCategories) -> Figure:
    """Plot the share of each category of questions, VQAv2's question types, most frequent first.

    Those that are in a class of Table A.2 are blue; where no category is one of these types, all are.
    """
    joined = pool.join(question_classes(pool), on="id").with_columns(
        pl.col("category").fill_null(NO_CATEGORY)
    )
    counts = joined.group_by("category").agg(
        pl.len().cast(pl.Int64), pl.col("question_class").is_not_null().any()
    )
    rows = sorted(counts.rows(), key=lambda row: (-row[1], row[0]))
    shown = [*rows[:MOST]] if len(rows) > MOST + 1 else rows
    if rest := rows[len(shown) :]:
        shown.append((f"{len(rest)} others", sum(count for _, count, _ in rest), False))
    total = max(1, pool.height)
    names = shorten_all(renderable([name for name, *_ in shown]), 26)
    positions = np.arange(len(shown))
    with styled():
        figure = new_figure(COLUMN_WIDTH, 0.65 + 0.125 * len(shown))
        axes = figure.subplots()
        bars = axes.barh(
            positions,
            [count / total for _, count, _ in shown],
            0.76,
            color=[SKY_BLUE if classed else "#D0D0D0" for *_, classed in shown],
            edgecolor=[BLUE if classed else FAINT for *_, classed in shown],
            linewidth=0.6,
        )
        ends = [f"{count:,}" for _, count, _ in shown]
        axes.bar_label(bars, ends, padding=1.5, fontsize=SMALL, color=INK)
        axes.set_yticks(positions, names, family=font_families(), fontsize=SMALL + 0.5)
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.margins(x=0.12)
        axes.set_xlim(0, None)
        largest = max((count / total for _, count, _ in shown), default=0)
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0 if largest > 0.05 else 1))
        axes.set_xlabel(f"share of the questions (n = {pool.height:,})")
        if not all(classed for *_, classed in shown):
            handles = [
                Patch(facecolor=SKY_BLUE, edgecolor=BLUE, linewidth=0.6, label="in a class of Table A.2"),
                Patch(facecolor="#D0D0D0", edgecolor=FAINT, linewidth=0.6, label="other"),
            ]
            figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure
