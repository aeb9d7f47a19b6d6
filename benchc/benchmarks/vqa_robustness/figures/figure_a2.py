"""Figure A.2: error by level of every corruption, as small multiples."""

from math import ceil
from typing import Annotated

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from benchc.benchmarks.vqa_robustness.metrics.severity import LEVELS
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors, read_errors
from benchc.benchmarks.vqa_robustness.tables.names import words
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.output import File
from benchc.rendering.series_style import line, series_style
from benchc.rendering.style import NORMAL, TEXT_WIDTH, new_figure, styled

IN_A_ROW = 5


def figure_a2(errors: Annotated[Errors, File(read_errors)]) -> Figure:
    """Plot the errors, in [0, 1], at the levels 0 (clean) to 5.

    A panel is a corruption with a curve for each model or, where there are more models than corruptions, the
    other way round, so that panels have few curves.
    """
    models, corruptions = renderable(errors.models), renderable([words(name) for name in errors.corruptions])
    values = errors.values  # [models, corruptions, 6]
    if len(models) <= len(corruptions):
        panels, curves, values = corruptions, models, values.swapaxes(0, 1)
    else:
        panels, curves = models, corruptions
    rows = ceil(len(panels) / IN_A_ROW)
    columns = ceil(len(panels) / rows)
    titles, labels = shorten_all(panels, 24), shorten_all(curves, 28)
    with styled():
        figure = new_figure(TEXT_WIDTH, 0.5 + 1.2 * rows + 0.14 * ceil(len(curves) / 5))
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for number, axes in enumerate(grid.flat):
            if number >= len(panels):
                axes.set_axis_off()
                continue
            for place, curve in enumerate(values[number]):
                axes.plot(
                    curve,
                    **series_style(place),
                    linestyle=line(place),
                    markersize=2.2,
                    linewidth=0.9,
                    label=labels[place],
                )
            axes.set_title(titles[number], family=font_families())
            axes.grid(axis="y")
            axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
            axes.set_xticks(range(LEVELS))
            # Of a short last row, the panels above it show the levels.
            last = number + columns >= len(panels)
            axes.tick_params(labelbottom=last)
            axes.set_xlabel("level (0: clean)" if last else "")
            axes.set_ylabel("" if number % columns else "error")
        handles, texts = grid.flat[0].get_legend_handles_labels()
        figure.legend(
            handles,
            texts,
            loc="outside lower center",
            ncols=5,
            prop={"family": font_families(), "size": NORMAL - 0.5},
        )
    return figure
