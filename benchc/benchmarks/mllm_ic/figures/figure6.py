"""Figure 6: accuracy by mid-level capability at the lowest, the middle and the highest severity."""

from matplotlib.figure import Figure

from benchc.benchmarks.mllm_ic.figures.frames import by_mid, marked_names, middle_severities, radars, sample
from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles
from benchc.rendering.chance import ChanceTable


def figure6(run: RunFiles, labels: dict[str, str], chance: ChanceTable) -> Figure:
    """Plot the mean accuracy over corruptions of each mid-level capability, at three severities."""
    levels = middle_severities(run.severities)
    columns = run.columns()
    values = sample(run, labels, {f"{level}": columns[f"severity_{level}"] for level in levels})
    names, note = marked_names(run, labels, chance)
    panels = [by_mid(run, own, f"severity {level}") for level, own in zip(levels, values, strict=True)]
    return radars(panels, names, note)
