"""What the figures of R-Bench have in common: values by part, names of dimensions, and a sentence alone."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchc.benchmarks.r_bench.dimensions import GROUP_LABELS, STAND_IN, Dimension, dimension
from benchc.benchmarks.r_bench.metrics.means import Axis
from benchc.benchmarks.r_bench.scored import Scored
from benchc.rendering.labels import spaced
from benchc.rendering.series_style import series_style
from benchc.rendering.style import INK, TEXT_WIDTH, new_figure, styled
from benchc.statistics.resampling import Floats

ABSOLUTE, RELATIVE = "absolute robustness", "relative robustness"
STAR = "*"
STAND_INS = f"{STAR} synthetic stand-in for what the authors photographed"
# The shape of a low-level group, as in the paper's Table 2 each has its own.
GROUP_STYLES = {group: series_style(place) for place, group in enumerate(GROUP_LABELS)}


class Values(NamedTuple):
    """Means by model and part, float64[models, parts]."""

    parts: list[str]
    absolute: Floats
    relative: Floats

    @property
    def ranking(self) -> Floats:
        """Return what models are ranked by, (R_a + R_r) / 2."""
        return (self.absolute + self.relative) / 2


def values_by(scored: Scored, *axes: Axis) -> Values:
    """Return the means of R_a and R_r over the parts of some axes that have items."""
    parts = [part for part in scored.parts(axes) if part.rows.any()]
    found = scored.draws(parts, 0, 0)
    return Values([part.name for part in parts], found.absolute[0], found.relative[0])


def ranked(scored: Scored) -> list[int]:
    """Return the places of the models from the highest (R_a + R_r) / 2 to the lowest."""
    return [int(place) for place in np.argsort(-values_by(scored, "overall").ranking[:, 0], kind="stable")]


def named(corruption: str) -> str:
    """Return a dimension's number and name, with a star for a stand-in."""
    one = dimension(corruption)
    return f"{one.number} {spaced(one.name.removesuffix(STAND_IN))}{STAR if one.stand_in else ''}"


def group_legend(figure: Figure, dimensions: Sequence[Dimension]) -> None:
    """Add the marks of the low-level groups below a figure, and what a star means where one is there."""
    handles = [
        Line2D([], [], linestyle="none", markersize=4, label=label, **GROUP_STYLES[group])
        for group, label in GROUP_LABELS.items()
    ]
    if any(one.stand_in for one in dimensions):
        handles.append(Line2D([], [], linestyle="none", label=STAND_INS))
    figure.legend(handles=handles, loc="outside lower center", ncols=4 if len(handles) > 7 else 7)


def sentence(text: str) -> Figure:
    """Return a figure that says why it plots nothing."""
    with styled():
        figure = new_figure(TEXT_WIDTH, 0.5)
        figure.text(0.5, 0.5, text, color=INK, ha="center", va="center")
    return figure


def few(models: Sequence[str], least: int) -> str:
    """Return the sentence of a figure that needs ``least`` models."""
    return f"Correlations over models need at least {least} models; this run has {len(models)}."
