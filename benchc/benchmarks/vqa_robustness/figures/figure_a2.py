"""Figure A.2: error by level of every corruption, one panel per model."""

from math import ceil
from typing import Annotated

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from benchc.benchmarks.vqa_robustness.metrics.severity import LEVELS
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors, read_errors
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.output import File
from benchc.rendering.series_style import line, series_style
from benchc.rendering.style import TEXT_WIDTH, new_figure, styled

IN_A_ROW = 3


def figure_a2(errors: Annotated[Errors, File(read_errors)]) -> Figure:
    """Plot each model's error, in [0, 1], at the levels 0 (clean) to 5 of each corruption."""
    rows = ceil(len(errors.models) / IN_A_ROW)
    columns = min(len(errors.models), IN_A_ROW)
    with styled():
        figure = new_figure(TEXT_WIDTH, 0.9 + 1.75 * rows)
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        names = shorten_all(renderable(errors.models), 34)
        labels = shorten_all(renderable(errors.corruptions), 24)
        for number, axes in enumerate(grid.flat):
            if number >= len(errors.models):
                axes.set_axis_off()
                continue
            for place, curve in enumerate(errors.values[number]):
                label = labels[place].replace("_", " ") if number == 0 else None
                axes.plot(
                    curve,
                    **series_style(place),
                    linestyle=line(place),
                    markersize=2.2,
                    linewidth=0.9,
                    label=label,
                )
            axes.set_title(names[number], family=font_families())
            axes.grid(axis="y")
            axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
            axes.set_xticks(range(LEVELS), ["clean", *map(str, range(1, LEVELS))])
            # Of a short last row, the panels above it show the levels.
            last = number + columns >= len(errors.models)
            axes.tick_params(labelbottom=last)
            axes.set_xlabel("level" if last else "")
            axes.set_ylabel("" if number % columns else "error")
        figure.legend(loc="outside lower center", ncols=7, prop={"family": font_families(), "size": 6.5})
    return figure
