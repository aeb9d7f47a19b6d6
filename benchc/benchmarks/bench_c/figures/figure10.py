"""Figure 10: mean RAS of models by corruption and severity, one panel per group."""

import math
import statistics
import textwrap
from collections.abc import Mapping
from typing import Any

import matplotlib
import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.rendering.contact_pages import pages_of
from benchc.rendering.style import COLUMN_WIDTH, FAINT, INK, NORMAL, SMALL, TEXT_WIDTH, new_figure, styled
from benchc.rendering.wrap import LETTER

MOST_IN_A_ROW = 11  # corruptions
FEW_MODELS = 8  # with fewer, values are plotted, since a box would be made of hardly more numbers
LEAST_RANGE = 0.02  # of the RAS axis, so that it does not magnify rounding errors
COLOUR_MAP = "Blues"  # one hue, from light for mild to dark for severe
AXIS = 0.5  # inches: label and ticks of the RAS axis
MEDIAN = "#E69F00"  # Okabe and Ito's orange: stands out from light and dark blue


def figure10(targets: TargetScores, groups: dict[str, str]) -> Figure:
    """Plot RAS by corruption and severity; ``groups``: each corruption's group, in their order."""
    return plot(targets.by_label, groups_of=groups, note=targets.note)


def plot(scores: Mapping[str, pl.DataFrame], *, groups_of: Mapping[str, str], note: str = "") -> Figure:
    """Plot a box of RAS over models for every corruption and severity, one panel per group.

    ``scores`` gives each model's SCORES table (at least id, corruption, severity, ras) by its name;
    ``groups_of`` each corruption's group, in the order of the panels (sorted by group). The values are
    the models' unweighted means of RAS (eq. 10, in [-2, 1]) over items. Boxes span the quartiles, lines are
    medians, whiskers reach the farthest value within 1.5 times the box height, points are outliers; with
    fewer than eight models every value is a point, and there are no boxes. A group that is too wide for a
    row continues in the next. ``note`` is printed below. Raises InputError where there is no model, or a
    table has a corruption that ``groups_of`` lacks. Paper: figure 10.
    """
    if not scores:
        raise InputError("figure 10: no model was given; name at least one table of scores")
    values = _values(scores, groups_of)
    groups = list(dict.fromkeys(groups_of.values()))
    columns = sorted(groups_of, key=lambda corruption: groups.index(groups_of[corruption]))
    severities = sorted({severity for _, severity in values})
    rows = [
        [columns[index] for index in row]
        for row in pages_of([groups_of[column] for column in columns], MOST_IN_A_ROW)
    ]
    widest = max(map(len, rows))
    colours = {
        severity: matplotlib.colormaps[COLOUR_MAP](0.2 + 0.8 * (index + 0.5) / len(severities))
        for index, severity in enumerate(severities)
    }
    with styled():
        wide = widest > 3
        width = TEXT_WIDTH if wide else COLUMN_WIDTH
        figure = new_figure(width, 0.4 + 1.75 * len(rows))
        grid = figure.add_gridspec(len(rows), 1)
        first: Any = None
        letter = 0
        drawn: set[str] = set()
        for number, row in enumerate(rows):
            panels = {
                group: [column for column in row if groups_of[column] == group]
                for group in dict.fromkeys(groups_of[column] for column in row)
            }
            strip = grid[number].subgridspec(1, len(panels), width_ratios=[*map(len, panels.values())])
            slot = (width - AXIS) / len(row)
            for index, (group, members) in enumerate(panels.items()):
                axes = figure.add_subplot(strip[index], sharey=first)
                first = axes if first is None else first
                _panel(axes, members, severities, values, colours, slot, points=len(scores) < FEW_MODELS)
                name = group.replace("_", " ").capitalize()
                if group in drawn:
                    title = f"{name} (continued)"
                else:
                    title = f"({chr(ord('a') + letter)}) {name}"
                    letter += 1
                axes.set_title(_lines(title, slot * len(members), NORMAL))
                drawn.add(group)
                if index == 0:
                    axes.set_ylabel(f"mean RAS of {pluralize(len(scores), 'model')}")
                else:
                    axes.tick_params(labelleft=False)
        drawn_values = [0.0, *(value for models in values.values() for value in models)]
        if first is not None and max(drawn_values) - min(drawn_values) < LEAST_RANGE:
            first.set_ylim(min(drawn_values) - LEAST_RANGE, max(drawn_values) + LEAST_RANGE)
        few = len(scores) < FEW_MODELS
        handles: list[Any] = [
            _handle(
                colours[severity], f"severity {severity}" if wide or index == 0 else f"{severity}", points=few
            )
            for index, severity in enumerate(severities)
        ]
        if few:
            handles.append(Line2D([], [], color=MEDIAN, linewidth=1.2, label="median"))
        figure.legend(
            handles=handles,
            loc="outside lower center",
            ncols=max(1, len(handles)),
            title=note.strip() or None,
            title_fontsize=NORMAL - 0.5,
        )
    return figure


def _handle(colour: Any, label: str, *, points: bool) -> Patch | Line2D:
    """Return the legend's handle of a severity, which looks like its points or boxes."""
    if points:
        look: dict[str, Any] = {
            "marker": "o",
            "markersize": 3,
            "markeredgewidth": 0.4,
            "markeredgecolor": INK,
        }
        return Line2D([], [], linestyle="none", markerfacecolor=colour, label=label, **look)
    return Patch(facecolor=colour, edgecolor=INK, linewidth=0.5, label=label)


def _values(
    scores: Mapping[str, pl.DataFrame], groups_of: Mapping[str, str]
) -> dict[tuple[str, int], list[float]]:
    """Return the models' means for every corruption and severity that occurs."""
    values: dict[tuple[str, int], list[float]] = {}
    for name, table in scores.items():
        unknown = sorted(set(table["corruption"]) - set(groups_of))
        if unknown:
            raise InputError(
                f"figure 10: the scores of {name} have {', '.join(unknown)}, whose group is not given; "
                "add it to groups"
            )
        cells = table.group_by("corruption", "severity").agg("ras").sort("corruption", "severity")
        for corruption, severity, ras in cells.rows():
            values.setdefault((corruption, severity), []).append(math.fsum(ras) / len(ras))
    return values


def _panel(
    axes: Any,
    corruptions: list[str],
    severities: list[int],
    values: Mapping[tuple[str, int], list[float]],
    colours: Mapping[int, Any],
    slot: float,
    *,
    points: bool,
) -> None:
    """Plot the boxes of one group, or with ``points`` the values; ``slot``: inches for each corruption."""
    axes.axhline(0, color=FAINT, linewidth=0.6, zorder=1)
    step = 0.84 / max(1, len(severities))
    for index, corruption in enumerate(corruptions):
        for number, severity in enumerate(severities):
            models = values.get((corruption, severity))
            if not models:
                continue
            at = index + (number - (len(severities) - 1) / 2) * step
            if points:
                # The edge shows a pale point, and one in front of another.
                axes.scatter(
                    [at] * len(models),
                    models,
                    s=9,
                    facecolor=[colours[severity]],
                    edgecolor=INK,
                    linewidth=0.4,
                    zorder=3,
                    label=f"{corruption} {severity}",
                )
                reach, median = min(0.4 * step, 0.2), statistics.median(models)
                axes.plot([at - reach, at + reach], [median] * 2, color=MEDIAN, linewidth=1.2, zorder=2)
                continue
            axes.boxplot(
                [models],
                positions=[at],
                widths=min(0.8 * step, 0.4),
                manage_ticks=False,
                patch_artist=True,
                boxprops={"facecolor": colours[severity], "edgecolor": INK, "linewidth": 0.5},
                medianprops={"color": MEDIAN, "linewidth": 1.0, "solid_capstyle": "butt"},
                whiskerprops={"color": INK, "linewidth": 0.5},
                capprops={"color": INK, "linewidth": 0.5},
                flierprops={"marker": "o", "markersize": 1.5, "markeredgewidth": 0.4, "markeredgecolor": INK},
                label=f"{corruption} {severity}",
            )
    axes.set_xticks(
        range(len(corruptions)),
        [_lines(corruption.replace("_", " "), slot, SMALL + 0.5) for corruption in corruptions],
        fontsize=SMALL + 0.5,
    )
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.5, len(corruptions) - 0.5)
    axes.grid(axis="y")


def _lines(text: str, inches: float, points: float) -> str:
    """Return ``text``, which is ASCII, in lines of about ``inches``; a longer word is not broken."""
    return "\n".join(textwrap.wrap(text, max(1, int(inches / (LETTER * points))), break_long_words=False))
