"""Figure 6: low-level features of reference and distorted images by step and by group."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from benchc.benchmarks.r_bench.dimensions import GROUP_LABELS, STEP_LABELS, dimension
from benchc.benchmarks.r_bench.figures.frames import ONLY_STAND_INS
from benchc.benchmarks.r_bench.schemas.image_features import IMAGE_FEATURES
from benchc.corruptions.recipe import CLEAN
from benchc.image_features import FEATURES
from benchc.rendering.noted_figure import sentence
from benchc.rendering.output import parquet
from benchc.rendering.style import BLUE, INK, SKY_BLUE, TEXT_WIDTH, new_figure, styled
from benchc.statistics.density import density
from benchc.statistics.resampling import Floats

Features = Annotated[pl.DataFrame, parquet(IMAGE_FEATURES)]
Axis = Literal["step", "group"]

POINTS = 200  # of a curve
HEIGHT = 1.5  # of the highest curve, in rows


def figure6(features: Features) -> Figure:
    """Plot densities of each feature over the distorted images of each step and group (filled), and over
    the reference images of the same items (dashed); marks are the means. Stand-ins are left out.
    """
    known = {name: dimension(name) for name in features["corruption"].unique() if name != CLEAN}
    rows = features.with_columns(
        pl.col("corruption")
        .replace_strict(
            {name: getattr(one, axis) for name, one in known.items() if not one.stand_in},
            default=None,
            return_dtype=pl.String,
        )
        .alias(axis)
        for axis in ("step", "group")
    )
    if rows["step"].null_count() == rows.height:
        return sentence(ONLY_STAND_INS)
    with styled():
        figure = new_figure(TEXT_WIDTH, 3.9)
        grid = figure.subplots(2, len(FEATURES))
        axes_of: tuple[tuple[Axis, Mapping[str, str]], ...] = (("step", STEP_LABELS), ("group", GROUP_LABELS))
        for row, (axis, names) in enumerate(axes_of):
            for column, (feature, title) in enumerate(FEATURES.items()):
                axes = grid[row, column]
                _ridges(axes, rows, axis, names, feature)
                axes.tick_params(axis="y", length=0, labelleft=column == 0)
                axes.spines.left.set_visible(False)
                if row == 0:
                    axes.set_title(title)
        handles, labels = grid[0, 0].get_legend_handles_labels()
        unique = dict(zip(labels, handles, strict=True))
        figure.legend([*unique.values()], [*unique], loc="outside lower center", ncols=len(unique))
    return figure


def _ridges(axes: Any, rows: pl.DataFrame, axis: Axis, names: Mapping[str, str], feature: str) -> None:
    """Plot one curve of a feature for each step or group that has items, from the first at the top."""
    clean = rows.filter(corruption=CLEAN).select("id", clean=feature)
    found: dict[str, tuple[Floats, Floats]] = {}
    for name in names:
        own = rows.filter(pl.col(axis) == name).join(clean, on="id")
        if own.height:
            found[name] = own[feature].to_numpy(), own["clean"].to_numpy()
    everything = np.concatenate([np.concatenate(pair) for pair in found.values()] or [np.zeros(1)])
    low, high = np.quantile(everything, [0.002, 0.998])
    grid = np.linspace(low, high, POINTS) if high > low else np.linspace(low - 1, high + 1, POINTS)
    curves = {name: (density(shown, grid), density(of, grid)) for name, (shown, of) in found.items()}
    # One scale for all curves of a panel, so that a flat one is flat.
    scale = HEIGHT / max((curve.max() for pair in curves.values() for curve in pair), default=1.0)
    for place, name in enumerate(found):
        base = float(-place)
        shown, reference = (base + scale * curve for curve in curves[name])
        order = 2 * place + 2  # a lower row is in front of the one above
        axes.fill_between(grid, base, shown, facecolor=SKY_BLUE, alpha=0.55, linewidth=0, zorder=order)
        axes.plot(grid, shown, color=BLUE, linewidth=0.8, zorder=order, label="distorted images")
        dashes = {"color": INK, "linewidth": 0.8, "linestyle": (0, (3, 1.5)), "zorder": order + 1}
        axes.plot(grid, reference, **dashes, label="their reference images")
        for values, marker, colour in zip(found[name], "^|", (BLUE, INK), strict=True):
            label = f"mean, {'distorted' if marker == '^' else 'reference'}"
            style = {"color": colour, "markersize": 4, "linestyle": "none", "zorder": 2 * len(found) + 2}
            axes.plot(values.mean(), base, marker, **style, label=label, clip_on=False)
    axes.set_yticks([-place for place in range(len(found))], [names[name] for name in found])
    axes.set_ylim(-len(found) + 0.7, HEIGHT + 0.1)
    axes.grid(axis="y")
