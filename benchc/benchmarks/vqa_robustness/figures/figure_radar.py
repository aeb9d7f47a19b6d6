"""The five scaled metrics of severity as radar charts: by model, and by corruption in each class."""

from math import ceil
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from benchc.benchmarks.vqa_robustness.inputs import ErrorTable
from benchc.benchmarks.vqa_robustness.metrics.severity import Levels, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import EQUAL, Scale, vre, weights_of
from benchc.benchmarks.vqa_robustness.tables.frames import frozen_scale, marked_errors
from benchc.benchmarks.vqa_robustness.tables.names import words
from benchc.rendering.chance import ChanceTable
from benchc.rendering.groups import grouped
from benchc.rendering.radar import legend_below, radar
from benchc.rendering.style import TEXT_WIDTH, new_figure, styled

IN_A_ROW = 3
SPOKES = ("First-\nDrop", "Range", "Error\nRate", "Average\nError", "Average\nDifference")
TICKS = {0.25: "", 0.5: ".5", 0.75: "", 1.0: "1"}
# The paper shows these two classes in one panel.
TOGETHER = ("blur", "weather")


def figure_radar(
    errors: ErrorTable,
    chance: ChanceTable,
    scale_of: list[Path],
    groups: dict[str, str],
    levels: Levels = "0..5",
) -> Figure:
    """Plot the scaled metrics that VRE weights, in [0, 1], near the centre for what is robust.

    The first panel has the models, the others the corruptions of a class; ``groups``: each corruption's
    class; ``scale_of``: a table of errors whose scale is frozen, or no file. A model without VRE is left out.
    """
    metrics = severity_metrics(errors.values, levels)
    scale = frozen_scale(scale_of, levels) or Scale.of(metrics)
    found = vre(scale.scaled(metrics), weights_of(EQUAL))
    known = np.flatnonzero(~np.isnan(found.model))
    names = [words(name) for name in errors.corruptions]
    panels = [
        (
            "models",
            [marked_errors(errors, chance).models[model] for model in known],
            found.model_parts[:, known],
        )
    ]
    for title, members in _panels(grouped(errors.corruptions, groups)).items():
        panels.append((title, [names[place] for place in members], found.corruption_parts[:, members]))
    top = max(1.0, *(float(np.nan_to_num(parts).max(initial=0)) for _, _, parts in panels))
    columns = min(IN_A_ROW, len(panels))
    rows = ceil(len(panels) / columns)
    most = max(len(labels) for _, labels, _ in panels)
    with styled():
        figure = new_figure(TEXT_WIDTH, rows * (2.05 + 0.13 * ceil(most / 2)))
        grid = figure.subplots(rows, columns, squeeze=False, subplot_kw={"projection": "polar"})
        for number, axes in enumerate(grid.flat):
            if number >= len(panels):
                axes.set_visible(False)
                continue
            title, labels, parts = panels[number]
            bottom = min(0.0, float(np.nan_to_num(parts).min(initial=0)))
            titled = f"({'abcdefghijklmnopqrstuvwxyz'[number]}) {title}"
            radar(axes, titled, SPOKES, labels, parts, limits=(bottom, top), ticks=TICKS)
            legend_below(axes)
    return figure


def _panels(groups: dict[str, list[int]]) -> dict[str, list[int]]:
    if not all(name in groups for name in TOGETHER):
        return groups
    merged: dict[str, list[int]] = {}
    for name, members in groups.items():
        merged.setdefault(" and ".join(TOGETHER) if name in TOGETHER else name, []).extend(members)
    return merged
