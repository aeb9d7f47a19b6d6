"""Mean error under every corruption, with its deviation over models."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from benchc.benchmarks.vqa_robustness.inputs import ErrorTable
from benchc.benchmarks.vqa_robustness.tables.names import words
from benchc.rendering.groups import grouped, name_groups
from benchc.rendering.labels import renderable, shorten_all
from benchc.rendering.style import BLUE, FAINT, INK, SKY_BLUE, TEXT_WIDTH, new_figure, styled

GAP = 0.6  # between classes, in bars


def figure_bars(errors: ErrorTable, groups: dict[str, str]) -> Figure:
    """Plot the mean error over models and the levels 1 to 5; ``groups``: each corruption's class.

    Bars show the standard deviation over models (with n - 1) where there are several, points the models; the
    dashed line is the mean error on clean images.
    """
    means = errors.values[:, :, 1:].mean(axis=2)  # [models, corruptions]
    places = grouped(errors.corruptions, groups)
    order = [place for members in places.values() for place in members]
    sizes = [len(members) for members in places.values()]
    positions = np.arange(len(order)) + GAP * np.repeat(np.arange(len(sizes)), sizes)
    several = len(errors.models) > 1
    with styled():
        figure = new_figure(TEXT_WIDTH, 2.3)
        axes = figure.subplots()
        axes.bar(
            positions,
            means[:, order].mean(axis=0),
            0.75,
            facecolor=SKY_BLUE,
            edgecolor=BLUE,
            linewidth=0.6,
            yerr=means[:, order].std(axis=0, ddof=1) if several else None,
            error_kw={"elinewidth": 0.8, "capsize": 2.0, "capthick": 0.8, "ecolor": INK},
            label="mean over models" + (", with their standard deviation" if several else ""),
        )
        if several:
            # Beside the bar of the deviation, not on it.
            beside = np.tile(positions + 0.22, (len(means), 1))
            axes.scatter(
                beside, means[:, order], s=5, color=INK, linewidth=0, alpha=0.8, zorder=3, label="model"
            )
        clean = errors.values[:, :, 0].mean()
        axes.axhline(
            clean, color=FAINT, linewidth=0.9, linestyle="--", zorder=4, label="clean, mean over models"
        )
        names = shorten_all(renderable([words(errors.corruptions[place]) for place in order]), 24)
        axes.set_xticks(positions, names, rotation=40, ha="right", rotation_mode="anchor")
        axes.tick_params(axis="x", length=0)
        axes.set_xlim(positions[0] - 0.7, positions[-1] + 0.7)
        axes.set_ylim(0, None)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.set_ylabel("mean error")
        axes.grid(axis="y")
        ends = np.cumsum(sizes)
        spans = {
            name: (positions[end - size], positions[end - 1])
            for name, size, end in zip(places, sizes, ends, strict=True)
        }
        name_groups(axes, spans)
        # Bars first, then what is in front of them.
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles[::-1], labels[::-1], loc="outside lower center", ncols=3)
    return figure
