"""Figure 7: accuracy by category of corruptions at the lowest, the middle and the highest severity."""

import numpy as np
from matplotlib.figure import Figure

from benchc.benchmarks.mllm_ic.figures.frames import (
    by_corruption,
    levels_together,
    marked_names,
    middle_severities,
    radars,
    sample,
)
from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles
from benchc.rendering.chance import ChanceTable


def figure7(
    run: RunFiles,
    labels: dict[str, str],
    chance: ChanceTable,
    categories: dict[str, str],
    levels: dict[str, str],
) -> Figure:
    """Plot the accuracy under each category at three severities.

    It is the mean of the mid-level capabilities, and over the corruptions of the category.

    Args:
        run: the outcomes.
        labels: names of the models by id.
        chance: the marks of models.
        categories: the category of each corruption.
        levels: the level of each category.
    """
    names, note = marked_names(run, labels, chance)
    columns, own = run.columns(category_of=categories), levels_together(categories, levels)
    panels = []
    for level in middle_severities(run.severities):
        at_level = columns[f"severity_{level}"]
        values = sample(run, labels, {name: np.intersect1d(columns[name], at_level) for name in own})
        panels.append(by_corruption(run, own, values, f"severity {level}"))
    return radars(panels, names, note)
