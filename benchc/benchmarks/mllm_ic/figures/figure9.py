"""Figure 9: accuracy by category of corruptions, and by corruption on each level."""

from matplotlib.figure import Figure

from benchc.benchmarks.mllm_ic.figures.frames import (
    Panel,
    by_corruption,
    levels_together,
    marked_names,
    radars,
    sample,
)
from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles
from benchc.rendering.chance import ChanceTable


def figure9(
    run: RunFiles,
    labels: dict[str, str],
    chance: ChanceTable,
    categories: dict[str, str],
    levels: dict[str, str],
) -> Figure:
    """Plot the accuracy under each category, and under the corruptions of each level.

    It is the mean of the mid-level capabilities, and over severities.

    Args:
        run: the outcomes.
        labels: names of the models by id.
        chance: the marks of models.
        categories: the category of each corruption.
        levels: the level of each category.
    """
    names, note = marked_names(run, labels, chance)
    columns, own = run.columns(category_of=categories), levels_together(categories, levels)

    def panel(chosen: dict[str, str], title: str) -> Panel:
        return by_corruption(
            run, chosen, sample(run, labels, {name: columns[name] for name in chosen}), title
        )

    panels = [panel(own, "categories")]
    for level in dict.fromkeys(own.values()):
        chosen = {name: level for name in run.corruptions if own[categories[name]] == level}
        panels.append(panel(chosen, f"{level} corruptions"))
    return radars(panels, names, note)
