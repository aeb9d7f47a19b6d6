"""Figures 5a to 5d: rank correlations of steps and of groups over models."""

from typing import Any

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from benchc.benchmarks.r_bench.dimensions import GROUP_LABELS, STEP_LABELS
from benchc.benchmarks.r_bench.figures.frames import ONLY_STAND_INS, too_few, values_by
from benchc.benchmarks.r_bench.scored import ScoreFiles, scored_of
from benchc.benchmarks.r_bench.tables.frames import notes
from benchc.rendering.heat_map import colour_bar, heat_map
from benchc.rendering.noted_figure import noted_figure, sentence
from benchc.rendering.style import SMALL, styled
from benchc.statistics.correlations import spearman
from benchc.statistics.resampling import Floats

COLOURS = "Blues"
GROUPS = {group: label[:2].upper() for group, label in GROUP_LABELS.items()}  # as the paper shortens them


def figure5ad(scores: ScoreFiles, labels: dict[str, str]) -> Figure:
    """Plot Spearman's correlation, over models, of the means of each two steps and each two groups."""
    scored = scored_of(scores, labels)
    if text := too_few(scored.models):
        return sentence(text)
    steps, groups = values_by(scored, "step"), values_by(scored, "group")
    if not steps.parts:
        return sentence(ONLY_STAND_INS)
    of_steps = [STEP_LABELS[name] for name in steps.parts]
    of_groups = [GROUPS[name] for name in groups.parts]
    panels: list[tuple[str, list[str], Floats]] = [
        ("(a) absolute, steps", of_steps, steps.absolute),
        ("(b) relative, steps", of_steps, steps.relative),
        ("(c) absolute, groups", of_groups, groups.absolute),
        ("(d) relative, groups", of_groups, groups.relative),
    ]
    found = [spearman(values) for *_, values in panels]
    norm = Normalize(min(0.0, *(float(np.nanmin(each, initial=0)) for each in found)), 1)
    with styled():
        figure = noted_figure(1.72, notes(scored).strip())
        every: list[Any] = list(figure.subplots(1, 4))
        for axes, (title, names, _), values in zip(every, panels, found, strict=True):
            heat_map(
                axes,
                values,
                names,
                names,
                norm=norm,
                colours=COLOURS,
                text=lambda value: f"{round(value, 2) + 0.0:.2f}".replace("0.", ".").replace("-", "−"),
                points=SMALL,
            )
            axes.set(box_aspect=1, title=title)
        label = "rank correlation"
        colour_bar(every[-1], norm, COLOURS, label, pad=0.04, fraction=0.05, format="{x:g}")
    return figure
