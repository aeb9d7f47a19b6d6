"""What the figures of R-Bench have in common: values by part, the ranking, and names of groups."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchc.benchmarks.r_bench.chance import TaskChance
from benchc.benchmarks.r_bench.dimensions import GROUP_LABELS, Dimension
from benchc.benchmarks.r_bench.metrics.means import Axis
from benchc.benchmarks.r_bench.names import STAND_INS
from benchc.benchmarks.r_bench.scored import Scored
from benchc.benchmarks.r_bench.tables.frames import notes
from benchc.rendering.series_style import series_style
from benchc.statistics.ranks import ranks
from benchc.statistics.resampling import Floats

ABSOLUTE, RELATIVE = "absolute robustness", "relative robustness"
ONLY_STAND_INS = "All dimensions of this run are stand-ins, which are in no mean of a step or group."
LEAST_MODELS = 4  # of three, a rank correlation is one of four values
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
    if not parts:
        none = np.empty((len(scored.models), 0))
        return Values([], none, none)
    found = scored.draws(parts, 0, 0)
    return Values([part.name for part in parts], found.absolute[0], found.relative[0])


class Ranking(NamedTuple):
    """Models from the highest (R_a + R_r) / 2 to the lowest; those without rank come last.

    Attributes:
        order: their places in the order of tables
        names: with the marks of models that are not above chance
        ranks: as printed; equal ones for equal values
        note: what the figure must say of judges, stand-ins and marks; empty where there is nothing
    """

    order: list[int]
    names: list[str]
    ranks: list[str]
    note: str


def ranking_of(scored: Scored, chance: TaskChance) -> Ranking:
    """Return the ranking of the models, which is that of the table `rank`."""
    values = values_by(scored, "overall").ranking[:, 0]
    labels = pl.Series(scored.models)
    has_rank = chance.ranked(labels).to_numpy()
    own = ranks(np.where(has_rank, -values, np.nan))
    order = np.lexsort((-values, ~has_rank)).tolist()
    marked = chance.models.marked(labels)
    return Ranking(
        order,
        [marked[place] for place in order],
        [str(own[place] or "–") for place in order],
        notes(scored, chance.models).strip(),
    )


def group_legend(figure: Figure, dimensions: Sequence[Dimension]) -> None:
    """Add the marks of the low-level groups below a figure, and what a star means where one is there."""
    handles = [
        Line2D([], [], linestyle="none", markersize=4, label=label, **GROUP_STYLES[group])
        for group, label in GROUP_LABELS.items()
        if any(one.group == group for one in dimensions)
    ]
    if any(one.stand_in for one in dimensions):
        handles.append(Line2D([], [], linestyle="none", label=STAND_INS))
    figure.legend(handles=handles, loc="outside lower center", ncols=4 if len(handles) > 7 else 7)


def too_few(models: Sequence[str]) -> str:
    """Return why there are no correlations over these models; empty where there are."""
    if len(models) >= LEAST_MODELS:
        return ""
    return f"Correlations over models need at least {LEAST_MODELS} models; this run has {len(models)}."
