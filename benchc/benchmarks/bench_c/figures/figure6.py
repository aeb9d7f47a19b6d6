"""Figure 6: mean RAS under each corruption, of items answered right and wrong when clean."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.errors import InputError
from benchc.rendering.contrast import text_colour
from benchc.rendering.labels import font_families, renderable, shorten_all, width
from benchc.rendering.style import (
    COLUMN_WIDTH,
    DIVERGING,
    FAINT,
    INK,
    NORMAL,
    SMALL,
    TEXT_WIDTH,
    new_figure,
    styled,
)

NO_SAMPLES: dict[str, Any] = {"facecolor": "white", "edgecolor": FAINT, "hatch": "xxxxxx", "linewidth": 0.0}


@dataclass(frozen=True)
class Matrix:
    """Mean RAS of every model (rows) under every corruption (columns), NaN where there is no sample."""

    values: npt.NDArray[np.float64]
    items: list[int]  # per model


def figure6(targets: TargetScores, groups: dict[str, str]) -> Figure:
    """Plot destructive and corrective robustness; ``groups``: each corruption's group, in their order."""
    return plot(targets.by_label, groups_of=groups, note=targets.note)


def plot(scores: Mapping[str, pl.DataFrame], *, groups_of: Mapping[str, str], note: str = "") -> Figure:
    """Plot the destructive and the corrective robustness matrix, one above the other on one colour scale.

    ``scores`` gives each model's SCORES table by its name, in the order of the rows; ``groups_of`` each
    corruption's group, in the order of the columns (sorted by group). A cell is the unweighted mean of RAS
    (eq. 10, in [-2, 1]) over items and severities: (a) of items that were right when clean, RR and RW; (b) of
    items that were wrong, WW and WR. A cell without a sample is hatched. ``note`` is printed below. Raises
    InputError where there is no model, or a table has a corruption that ``groups_of`` lacks. Paper:
    figure 6 (a, b).
    """
    if not scores:
        raise InputError("figure 6: no model was given; name at least one table of scores")
    columns = _columns(groups_of)
    matrices = [_matrix(scores, columns, right_when_clean) for right_when_clean in (True, False)]
    present = np.concatenate([matrix.values.ravel() for matrix in matrices])
    present = np.abs(present[~np.isnan(present)])
    # Both panels share the scale, so that equal colours are equal values; 0.05 keeps noise around 0 pale.
    limit = max(0.05, float(present.max(initial=0.0)))
    norm = Normalize(-limit, limit)
    wide = len(columns) > 6
    with styled():
        panel = max(0.17 * len(scores), 0.34)  # inches
        figure = new_figure(TEXT_WIDTH if wide else COLUMN_WIDTH, 1.8 + 2 * panel)
        upper, lower, strip = figure.subplots(3, 1, height_ratios=(panel, panel, 0.08))
        names = shorten_all(renderable(list(scores)), 34 if wide else 22)
        for axes, matrix in zip((upper, lower), matrices, strict=True):
            _panel(axes, matrix, names, columns, groups_of, norm)
        slanted = not _fits(names, columns, groups_of, TEXT_WIDTH if wide else COLUMN_WIDTH)
        longest = max(map(len, groups_of.values()))
        upper.set_title("(a) Destructive (RR ∪ RW)", pad=10 + 2 * longest if slanted else 15)
        lower.set_title("(b) Corrective (WW ∪ WR)")
        upper.set_xticks([])
        _group_names(upper, columns, groups_of, slanted)
        lower.set_xticks(
            np.arange(len(columns)),
            [column.replace("_", " ") for column in columns],
            rotation=40,
            ha="right",
            rotation_mode="anchor",
        )
        bar = figure.colorbar(
            matplotlib.cm.ScalarMappable(norm, DIVERGING),
            cax=strip,
            orientation="horizontal",
            ticks=MaxNLocator(5 if wide else 2, symmetric=True),
        )
        bar.set_label("mean RAS (higher is more robust)")
        if note.strip():
            figure.supxlabel(note.strip(), fontsize=NORMAL)
        if any(np.isnan(matrix.values).any() for matrix in matrices):
            figure.legend(handles=[Patch(label="no samples", **NO_SAMPLES)], loc="outside lower center")
    return figure


def _columns(groups_of: Mapping[str, str]) -> list[str]:
    ranks = {group: rank for rank, group in enumerate(dict.fromkeys(groups_of.values()))}
    return sorted(groups_of, key=lambda corruption: ranks[groups_of[corruption]])


def _matrix(scores: Mapping[str, pl.DataFrame], columns: list[str], right_when_clean: bool) -> Matrix:
    values = np.full((len(scores), len(columns)), np.nan)
    items = []
    for row, (name, table) in enumerate(scores.items()):
        samples = table.filter(pl.col("correct_clean") == right_when_clean)
        items.append(samples["id"].n_unique())
        # fsum is exact: a sum that polars spreads over threads varies in its last bit, and so would the file.
        means = {
            corruption: math.fsum(ras) / len(ras)
            for corruption, ras in samples.group_by("corruption").agg("ras").rows()
        }
        unknown = sorted(set(means) - set(columns))
        if unknown:
            raise InputError(
                f"figure 6: the scores of {name} have {', '.join(unknown)}, whose group is not given; "
                "add it to groups"
            )
        for column, corruption in enumerate(columns):
            values[row, column] = means.get(corruption, np.nan)
    return Matrix(values, items)


def _panel(
    axes: Any,
    matrix: Matrix,
    names: list[str],
    columns: list[str],
    groups_of: Mapping[str, str],
    norm: Normalize,
) -> None:
    rows, count = matrix.values.shape
    shown = np.ma.masked_invalid(matrix.values)
    axes.imshow(shown, cmap=DIVERGING, norm=norm, aspect="auto", interpolation="nearest")
    size = SMALL if count > 12 else SMALL + 1
    colours = matplotlib.colormaps[DIVERGING]
    for row in range(rows):
        for column in range(count):
            value = matrix.values[row, column]
            if np.isnan(value):
                axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, **NO_SAMPLES))
                continue
            colour = text_colour(colours(norm(value)))
            axes.text(
                column, row, _three_decimals(value), ha="center", va="center", fontsize=size, color=colour
            )
    for column in range(1, count):
        if groups_of[columns[column]] != groups_of[columns[column - 1]]:
            axes.axvline(column - 0.5, color="white", linewidth=2.5)
    axes.set_yticks(np.arange(rows), names, family=font_families())
    counts = axes.secondary_yaxis("right")
    counts.set_yticks(np.arange(rows), [f"{number:,}" for number in matrix.items], fontsize=SMALL, color=INK)
    axes.annotate(
        "items",
        # Below the numbers: above them are the title and the names of groups.
        (1.0, 0.0),
        xytext=(2, -2),
        xycoords="axes fraction",
        textcoords="offset points",
        va="top",
        fontsize=SMALL,
        color=INK,
    )
    counts.tick_params(length=0)
    counts.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _group_names(axes: Any, columns: list[str], groups_of: Mapping[str, str], slanted: bool) -> None:
    for group in dict.fromkeys(groups_of[column] for column in columns):
        positions = [index for index, column in enumerate(columns) if groups_of[column] == group]
        axes.annotate(
            group.replace("_", " "),
            (sum(positions) / len(positions), 1.0),
            xytext=(0, 3),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="left" if slanted else "center",
            va="bottom",
            rotation=30 if slanted else 0,
            fontsize=NORMAL - 0.5,
            style="italic",
            color=INK,
        )


def _fits(names: list[str], columns: list[str], groups_of: Mapping[str, str], inches: float) -> bool:
    """Return whether every group's name is narrower than its columns, by an approximate letter width."""
    letter = 0.056
    column = (inches - 0.35 - letter * max(map(width, names))) / len(columns)
    return all(
        letter * len(group) <= column * sum(groups_of[name] == group for name in columns)
        for group in set(groups_of.values())
    )


def _three_decimals(value: float) -> str:
    """Return -0.0523 as "−.052": without the zero, three decimals fit in a cell of 19."""
    # + 0.0 turns a rounded negative zero into a plain one.
    text = f"{round(value, 3) + 0.0:.3f}".replace("-", "−")
    return text.replace("0.", ".", 1) if abs(value) < 0.9995 else text
