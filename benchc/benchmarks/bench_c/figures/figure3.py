"""Figure 3: one prediction of each regime, and how corruption moves the probabilities of its options."""

from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from benchc.benchmarks.bench_c.figures.cases import case_of_each_regime, with_probabilities
from benchc.benchmarks.bench_c.figures.regimes import COLOURS, MEANINGS
from benchc.benchmarks.bench_c.inputs import PoolOptions, Scores
from benchc.benchmarks.bench_c.schemas.scores import REGIMES
from benchc.rendering.labels import font_families, renderable
from benchc.rendering.numbers import signed
from benchc.rendering.option_bars import HANDLERS, legend_handles, option_bars
from benchc.rendering.shorten import shorten
from benchc.rendering.style import COLUMN_WIDTH, FAINT, INK, NORMAL, SMALL, new_figure, styled
from benchc.schemas.predictions_of_model import read_all_predictions


def figure3(scores: Scores, predictions: list[Path], pool: PoolOptions, label: str) -> Figure:
    """Plot a target's most pronounced prediction of each regime, and the probabilities of its options.

    ``predictions``: all files of the target; ``label``: its name.
    """
    cases = with_probabilities(case_of_each_regime(scores), read_all_predictions(predictions), pool)
    return plot(cases, label=label)


def plot(cases: pl.DataFrame, *, label: str) -> Figure:
    """Plot the options' probabilities, clean and corrupted, of one prediction of each regime.

    ``cases``: at most one row a regime, with the columns of a SCORES table, probabilities and
    probabilities_clean (list[float], one an option, in [0, 1]) and answer (0-based), as
    :func:`figures.cases.with_probabilities` gives them; ``label`` is the target's name. Each panel names the
    prediction, its shifts in entropy ΔS (eq. 7) and in calibration error ΔC (eq. 9), its RAS (eq. 10) and its
    transition. A regime without a row has an empty panel. Paper: figure 3.
    """
    rows = {row["regime"]: row for row in cases.iter_rows(named=True)}
    with styled():
        figure = new_figure(COLUMN_WIDTH, 3.5)
        figure.suptitle(shorten(renderable([label])[0], 50), fontsize=NORMAL, family=font_families())
        panels = figure.subplots(2, 2, sharey=True)
        for number, (axes, regime) in enumerate(zip(panels.flat, REGIMES, strict=True), start=1):
            axes.set_title(
                f"Case {number}: {regime}", color=COLOURS[regime], fontweight="bold", pad=3, loc="left"
            )
            if regime in rows:
                _panel(axes, rows[regime])
            else:
                axes.text(0.5, 0.5, "no samples", ha="center", transform=axes.transAxes, color=FAINT)
                axes.set_xticks([])
        for axes in panels[:, 0]:
            axes.set_ylabel("probability")
        figure.legend(
            handles=legend_handles(COLOURS.values()),
            handler_map=HANDLERS,
            loc="outside lower center",
            ncols=3,
        )
    return figure


def _panel(axes: Any, row: dict[str, Any]) -> None:
    option_bars(
        axes,
        row["probabilities_clean"],
        row["probabilities"],
        answer=row["answer"],
        colour=COLOURS[row["regime"]],
    )

    lines = [
        f"ΔS {signed(row['delta_entropy'])}, ΔC {signed(row['delta_calibration'])}",
        f"RAS {signed(row['ras'])}, {MEANINGS[row['transition']]}",
        f"{row['corruption'].replace('_', ' ')} at severity {row['severity']}",
        shorten(renderable([row["id"]])[0], 30),
    ]
    axes.set_xlabel("\n".join(lines), fontsize=SMALL + 0.5, family=font_families(), color=INK)
