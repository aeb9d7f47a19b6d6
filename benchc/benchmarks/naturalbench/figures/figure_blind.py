"""What models solve with and without the image (figures 3 to 5 of the paper)."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from benchc.benchmarks.naturalbench.blind_answers import chosen_options, unavailable
from benchc.benchmarks.naturalbench.figures.reading_names import named_readings
from benchc.benchmarks.naturalbench.inputs import GroupRows
from benchc.benchmarks.naturalbench.metrics.bootstrap import Resamples, estimates
from benchc.benchmarks.naturalbench.metrics.groups import CHANCE, MEASURES, Floats, group_values
from benchc.benchmarks.naturalbench.scored import CleanScores, RunScores, benchmark_groups
from benchc.command_line import NaturalInt, PositiveInt
from benchc.errors import InputError, recreate
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.output import parquet
from benchc.rendering.style import BLUE, FAINT, INK, NORMAL, SMALL, TEXT_WIDTH, VERMILLION, new_figure, styled
from benchc.schemas.pool import POOL

LONGEST_LABEL = 30
SHOWN = ("acc", "g_acc")
TITLES = {"acc": "(a) Acc (%)", "g_acc": "(b) G-Acc (%)"}
PREFERRED = ("deterministic", "decoding")

Pool = Annotated[pl.DataFrame, parquet(POOL, "id", "answer")]


def figure_blind(
    scored: CleanScores,
    groups: GroupRows,
    pool: Pool,
    blind: list[Path],
    draws: PositiveInt = 2000,
    seed: NaturalInt = 0,
) -> Figure:
    """Plot Acc and G-Acc of each model with and without the image, in per cent.

    ``blind``: PREDICTIONS of models, {model}/no_image.parquet, of each question's item about image 0; a
    model without one, or whose file has the reason, is said to have none. With the image: by likelihood
    where the model has it, else its generated answers, with 95 % intervals from resamples of the groups.
    Lines are chance and the best constant answer to each question, which solves half of the questions and no
    group.
    """
    groups = benchmark_groups(groups)
    truth = truths(groups, pool)
    unseen = {path.parent.name: blind_values(path, groups, truth) for path in blind}
    resamples = Resamples(scored.groups.height, draws, seed)
    readings = {id_: _reading(scored, id_) for id_ in scored.models}
    seen = {id_: _seen(scored, id_, reading, resamples) for id_, reading in readings.items()}
    constant = 100 * group_values(_constant(truth)).mean(axis=0)
    names = shorten_all(renderable([model.label for model in scored.models.values()]), LONGEST_LABEL)
    with styled():
        figure = new_figure(TEXT_WIDTH, 0.98 + 0.2 * max(len(names), 3))
        for axes, measure in zip(figure.subplots(1, len(SHOWN), sharey=True), SHOWN, strict=True):
            column = MEASURES.index(measure)
            _lines(axes, 100 * CHANCE[measure], constant[column])
            for row, id_ in enumerate(scored.models):
                _model(axes, row, [ends[column] for ends in seen[id_]], unseen.get(id_), column)
            axes.set_xlabel(TITLES[measure])
            axes.set_xlim(0, 100)
            axes.grid(axis="x")
            axes.tick_params(axis="y", length=0)
            axes.set_yticks(range(len(names)), names, family=font_families())
            axes.set_ylim(len(names) - 0.4, -0.6)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        unique = dict(zip(labels, handles, strict=True))
        figure.legend(
            [*unique.values()],
            [*unique],
            loc="outside lower center",
            ncols=4,
            fontsize=NORMAL - 0.5,
            title=f"Reading with the image: {named_readings(scored, readings)}",
            title_fontproperties={"family": font_families(), "size": NORMAL - 0.5},
        )
    return figure


def truths(groups: pl.DataFrame, pool: pl.DataFrame) -> Any:
    """Return the right options, int64[groups, 2 questions, 2 images], groups in their order of ``groups``."""
    order = {name: number for number, name in enumerate(groups["group"].unique(maintain_order=True))}
    truth = np.full((len(order), 2, 2), -1, dtype=np.int64)
    rows = groups.join(pool.select("id", "answer"), on="id", how="left")
    for group, q, i, answer in rows.select("group", "q_idx", "i_idx", "answer").iter_rows():
        truth[order[group], q, i] = -1 if answer is None else answer
    if (truth < 0).any():
        raise InputError(f"figure_blind: an item of the groups is not in the pool; {recreate('pool')}")
    return truth


def blind_values(path: Path, groups: pl.DataFrame, truth: Any) -> Floats | str:
    """Return the measures of a model without the image, float64[4] in per cent, or why it has none.

    One answer stands for both images of a question. Raises InputError where a question has no prediction.
    """
    if reason := unavailable(path):
        return reason
    chosen = chosen_options(path)
    order = {name: number for number, name in enumerate(groups["group"].unique(maintain_order=True))}
    answers = np.full(truth.shape, -1, dtype=np.int64)
    for id_, group, q, i in groups.select("id", "group", "q_idx", "i_idx").iter_rows():
        if i == 0:
            if id_ not in chosen:
                raise InputError(f"{path}: has no prediction of {id_}; {recreate('predictions')}")
            answers[order[group], q] = chosen[id_]
    return np.asarray(100 * group_values(answers == truth).mean(axis=0), dtype=np.float64)


def _constant(truth: Any) -> Any:
    """Return whether the more frequent answer to each question is right; of two as frequent, the first."""
    frequent = (truth.mean(axis=2, keepdims=True) > 0.5).astype(np.int64)
    return truth == frequent


def _reading(scored: RunScores, model: str) -> str:
    readings = {reading for reading, _, _ in scored.scores[model].found}
    return next((name for name in PREFERRED if name in readings), min(readings))


def _seen(scored: RunScores, model: str, reading: str, resamples: Resamples) -> tuple[Floats, Floats, Floats]:
    found = estimates(resamples.means(scored.values(model, reading)))
    return found.value, found.low, found.high


def _lines(axes: Any, chance: float, constant: float) -> None:
    axes.axvline(chance, color=FAINT, linewidth=0.9, linestyle="--", zorder=1, label="chance")
    axes.axvline(
        constant,
        color=INK,
        linewidth=0.9,
        linestyle=":",
        zorder=1,
        label="best constant answer",
        clip_on=False,
    )


def _model(axes: Any, row: int, seen: list[float], unseen: Floats | str | None, column: int) -> None:
    value, low, high = seen
    mark: dict[str, Any] = {
        "marker": "o",
        "markersize": 4,
        "linestyle": "none",
        "zorder": 3,
        "clip_on": False,
    }
    if not np.isnan(value):
        if not np.isnan(low):
            axes.hlines(row, low, high, color=BLUE, linewidth=0.9, zorder=2)
        axes.plot([value], [row], color=BLUE, markeredgewidth=0, label="with the image", **mark)
    if isinstance(unseen, np.ndarray):
        axes.plot(
            [unseen[column]],
            [row],
            markerfacecolor="none",
            markeredgecolor=VERMILLION,
            markeredgewidth=0.9,
            label="without the image",
            **mark | {"markersize": 6},  # a ring, in which the other mark is seen where they agree
        )
        return
    if column == MEASURES.index("acc"):
        text = "no pass without the image"
        axes.text(1, row, text, ha="left", va="center", fontsize=SMALL, color=FAINT)
