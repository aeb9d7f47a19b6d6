"""Figure 10: accuracy of one model by capability, category of corruptions and severity."""

import textwrap
from collections import Counter
from itertools import pairwise

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from benchc.benchmarks.mllm_ic.capabilities import label_of
from benchc.benchmarks.mllm_ic.corruption_tree import corruption_label
from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles, check_models
from benchc.rendering.heat_map import colour_bar, heat_map
from benchc.rendering.noted_figure import noted_figure
from benchc.rendering.style import INK, NORMAL, SMALL, styled

COLOURS = "viridis"
# Inches: of a row at least, and of a line of the name of a mid-level capability, with a gap to the next one.
ROW, LINE, GAP = 0.125, 0.11, 0.06
# Letters in a line of such a name, by the lines that have a place.
LETTERS = {3: 12, 2: 17, 1: 40}


def figure10(run: RunFiles, labels: dict[str, str], categories: dict[str, str]) -> Figure:
    """Plot the accuracy in each cell, over its questions, on clean images and by category and severity.

    Args:
        run: the outcomes.
        labels: the name of the model, the first one, by its id.
        categories: the category of each corruption, over which a cell is the mean.
    """
    check_models(run, labels)
    model, name_of_model = next(iter(labels.items()))
    cells = 100 * run.cells(model)  # by scenario and capability
    columns, severities = run.columns(category_of=categories), len(run.severities)
    own = list(dict.fromkeys(categories.values()))
    parts = [columns["clean"]]
    for name in own:
        parts += [np.intersect1d(columns[name], columns[f"severity_{level}"]) for level in run.severities]
    values = np.array([cells[part].mean(axis=0) for part in parts]).T
    mids = [each.mid for each in run.capabilities]
    fewest = min(Counter(mids).values())
    row_height = min(2 * ROW, max(ROW, 3 * LINE / fewest))
    lines = min(max(LETTERS), max(1, int((fewest * row_height - GAP) / LINE)))
    with styled():
        figure = noted_figure(0.9 + row_height * len(values), name_of_model)
        axes = figure.subplots()
        norm = Normalize(10 * np.floor(values.min() / 10), max(10, 10 * np.ceil(values.max() / 10)))
        heat_map(
            axes,
            values,
            [label_of(each.name) for each in run.capabilities],
            ["clean", *(f"{name} {level}" for name in own for level in run.severities)],
            norm=norm,
            colours=COLOURS,
            text=lambda value: "",
            groups={"Clean": 1, **{corruption_label(name): severities for name in own}},
        )
        for row, (above, below) in enumerate(pairwise(mids)):
            if above != below:
                axes.axhline(row + 0.5, color="white", linewidth=2.5)
        for text in axes.texts:
            text.set_fontsize(SMALL)  # names of categories are about as wide as their five columns
        numbers = ["", *(f"{level}" for _ in own for level in run.severities)]
        axes.set_xticks(range(len(numbers)), numbers, rotation=0, ha="center", rotation_mode="default")
        axes.tick_params(labelsize=SMALL + 0.5)
        for mid in dict.fromkeys(mids):
            rows = [row for row, own_mid in enumerate(mids) if own_mid == mid]
            axes.annotate(
                textwrap.fill(label_of(mid), LETTERS[lines]),
                (1, (rows[0] + rows[-1]) / 2),
                (3, 0),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                va="center",
                fontsize=NORMAL - 0.5,
                style="italic",
                color=INK,
            )
        axes.set_xlabel("severity")
        colour_bar(axes, norm, COLOURS, "accuracy (%)", location="bottom", pad=0.02, aspect=50, shrink=0.6)
    return figure
