"""G-Acc by severity of each corruption."""

from math import ceil
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchc.benchmarks.naturalbench.figures.chance import G_ACC, from_zero, mark_chance
from benchc.benchmarks.naturalbench.figures.reading_names import named_readings
from benchc.benchmarks.naturalbench.metrics.bootstrap import Resamples, estimates
from benchc.benchmarks.naturalbench.metrics.groups import MEASURES
from benchc.benchmarks.naturalbench.scored import CorruptedScores, RunScores
from benchc.command_line import NaturalInt, PositiveInt
from benchc.errors import InputError
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.series_style import line, series_style
from benchc.rendering.style import NORMAL, TEXT_WIDTH, new_figure, styled
from benchc.schemas.predictions import CLEAN

IN_A_ROW = 4
DODGE = 0.5  # of a severity: the width of all intervals side by side
MOST_INTERVALS = 4  # curves of a panel; those of more would hide each other
PREFERRED = ("decoding", "deterministic", "sample")


def figure_corruption(
    scored: CorruptedScores,
    corruptions: list[str],
    severities: list[int],
    draws: PositiveInt = 2000,
    seed: NaturalInt = 0,
) -> Figure:
    """Plot G-Acc, in per cent, at each severity; 0 is clean.

    A panel is a corruption with a curve for each model or, where there are more models than corruptions, the
    other way round. Panels of up to four curves show 95 % intervals from resamples of the groups. Each model
    is read in the first way that it has of ``PREFERRED``. Raises InputError where a model has none, or there
    is no corruption.
    """
    if not corruptions:
        raise InputError("figure_corruption: the run has no corruptions; add some to corruptions.types")
    resamples = Resamples(scored.groups.height, draws, seed)
    columns = [
        (id_, name, severity) for id_ in scored.models for name in corruptions for severity in severities
    ]
    columns += [(id_, CLEAN, 0) for id_ in scored.models]
    readings = {id_: _reading(scored, id_) for id_ in scored.models}
    values = [_g_acc(scored, id_, readings[id_], name, severity) for id_, name, severity in columns]
    found = estimates(resamples.means(np.stack(values, axis=1)))
    cells = {key: (found.value[at], found.low[at], found.high[at]) for at, key in enumerate(columns)}
    models = dict(zip(scored.models, renderable([m.label for m in scored.models.values()]), strict=True))
    words = {name: name.replace("_", " ") for name in corruptions}
    by_corruption = len(models) <= len(corruptions)
    panels, curves = (words, models) if by_corruption else (models, words)
    titles, labels = shorten_all([*panels.values()], 24), shorten_all([*curves.values()], 28)
    rows = ceil(len(panels) / IN_A_ROW)
    in_a_row = ceil(len(panels) / rows)
    with styled():
        legend_rows = ceil((len(curves) + 1) / 4)
        figure = new_figure(TEXT_WIDTH, 0.68 + 1.5 * rows + 0.14 * legend_rows)
        grid = figure.subplots(rows, in_a_row, sharex=True, sharey=True, squeeze=False)
        for number, axes in enumerate(grid.flat):
            if number >= len(panels):
                axes.set_axis_off()
                continue
            panel = [*panels][number]
            for place, curve in enumerate(curves):
                id_, name = (curve, panel) if by_corruption else (panel, curve)
                points = [cells[id_, CLEAN, 0], *(cells[id_, name, severity] for severity in severities)]
                _curve(axes, [0, *severities], points, place, len(curves), labels[place])
            mark_chance(axes, G_ACC, upright=False)
            axes.set_title(titles[number], family=font_families())
            axes.grid(axis="y")
            axes.set_xticks([0, *severities], ["clean", *map(str, severities)])
            last = number + in_a_row >= len(panels)
            axes.tick_params(labelbottom=last)
            axes.set_xlabel("severity" if last else "")
            axes.set_ylabel("" if number % in_a_row else "G-Acc (%)")
        # At the end, since a limit that is set stops growing with the panels after it.
        from_zero(grid.flat[0].set_ylim, grid.flat[0].get_ylim()[1])
        handles, texts = grid.flat[0].get_legend_handles_labels()
        figure.legend(
            handles,
            texts,
            loc="outside lower center",
            ncols=4,
            prop={"family": font_families(), "size": NORMAL - 0.5},
            title=f"Reading: {named_readings(scored, readings)}",
            title_fontproperties={"family": font_families(), "size": NORMAL - 0.5},
        )
    return figure


def _reading(scored: RunScores, model: str) -> str:
    known = {reading for reading, corruption, _ in scored.scores[model].found if corruption == CLEAN}
    reading = next((name for name in PREFERRED if name in known), None)
    if reading is None:
        raise InputError(
            f"figure_corruption: {model} is read in none of the ways "
            f"{', '.join(PREFERRED)}; add one to readings"
        )
    return reading


def _g_acc(scored: RunScores, model: str, reading: str, corruption: str, severity: int) -> Any:
    return scored.values(model, reading, corruption, severity)[:, MEASURES.index("g_acc")]


def _curve(axes: Any, severities: list[int], points: list[Any], place: int, curves: int, label: str) -> None:
    values, low, high = np.array(points).T
    marked = series_style(place)
    several = curves <= MOST_INTERVALS
    shift = (place - (curves - 1) / 2) * DODGE / curves if several else 0.0
    at = np.array(severities) + shift
    if several:
        axes.vlines(at, low, high, color=marked["color"], linewidth=0.9, zorder=2)
    axes.plot(
        at, values, **marked, linestyle=line(place), linewidth=0.9, markersize=2.6, zorder=3, label=label
    )
