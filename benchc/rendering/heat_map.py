"""A heat map: a cell with its number for each row and column, columns side by side with their group."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.colors import Colormap, Normalize

from benchc.rendering.contrast import text_colour
from benchc.rendering.groups import name_groups
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.style import SMALL

SHORT = 3  # letters: names up to this length are horizontal


def heat_map(
    axes: Any,
    values: npt.NDArray[np.float64],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    norm: Normalize,
    colours: str | Colormap,
    text: Callable[[float], str],
    groups: Mapping[str, int] | None = None,
    points: float = SMALL + 0.5,
) -> None:
    """Plot ``values``, float64[rows, columns], into ``axes``; a cell of NaN is empty.

    Args:
        axes: to plot into.
        values: of the cells.
        rows: their names.
        columns: their names.
        norm: from values to colours.
        colours: a colour map of matplotlib, or its name.
        text: what stands in a cell.
        groups: the number of columns of each group, in the order of the columns.
        points: size of the numbers.
    """
    axes.imshow(np.ma.masked_invalid(values), cmap=colours, norm=norm, aspect="auto")
    colour_map = matplotlib.colormaps.get_cmap(colours)
    for row, column in np.argwhere(~np.isnan(values)):
        value = values[row, column]
        colour = text_colour(colour_map(norm(value)))
        axes.text(column, row, text(value), ha="center", va="center", fontsize=points, color=colour)
    names = shorten_all(renderable(columns), 26)
    if max(map(len, names), default=0) <= SHORT:
        axes.set_xticks(range(len(names)), names)
    else:
        axes.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor")
    labels = shorten_all(renderable(rows), 36)
    axes.set_yticks(range(len(labels)), labels, family=font_families())
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    ends = np.cumsum([*(groups or {}).values()])
    starts = ends - [*(groups or {}).values()]
    name_groups(
        axes, {name: (start, end - 1) for name, start, end in zip(groups or (), starts, ends, strict=True)}
    )
    for end in ends[:-1]:
        axes.axvline(end - 0.5, color="white", linewidth=2.5)


def colour_bar(axes: Any, norm: Normalize, colours: str | Colormap, label: str, **options: Any) -> None:
    """Add the scale of colours beside ``axes``; ``options``: of matplotlib's colour bar."""
    mappable = matplotlib.cm.ScalarMappable(norm, colours)
    bar = axes.figure.colorbar(mappable, ax=axes, **options)
    bar.set_label(label)
    bar.outline.set_visible(False)
