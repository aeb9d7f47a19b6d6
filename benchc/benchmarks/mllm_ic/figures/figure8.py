"""Figure 8: accuracy by mid-level and by low-level capability."""

from matplotlib.figure import Figure

from benchc.benchmarks.mllm_ic.figures.frames import by_capability, by_mid, marked_names, radars, sample
from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles
from benchc.rendering.chance import ChanceTable


def figure8(run: RunFiles, labels: dict[str, str], chance: ChanceTable) -> Figure:
    """Plot the mean accuracy over corruptions and severities: mid-level and then low-level capabilities."""
    (values,) = sample(run, labels, {"corrupted": run.columns()["corrupted"]})
    names, note = marked_names(run, labels, chance)
    panels = [by_mid(run, values, "mid-level capabilities")]
    for high in dict.fromkeys(each.high for each in run.capabilities):
        own = [place for place, each in enumerate(run.capabilities) if each.high == high]
        chosen = [run.capabilities[place] for place in own]
        panels.append(by_capability(chosen, values[:, own], high))
    return radars(panels, names, note)
