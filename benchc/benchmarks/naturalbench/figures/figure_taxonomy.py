"""Figure 6 of the paper: the skills that questions need."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from benchc.benchmarks.naturalbench.inputs import GroupRows, Tags
from benchc.benchmarks.naturalbench.scored import benchmark_groups
from benchc.benchmarks.naturalbench.taxonomy import OWN, SKILLS, SPATIAL, class_of, label_of
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.style import (
    BENCHMARK_FILL,
    INK,
    NORMAL,
    POOL_FILL,
    SMALL,
    TEXT_WIDTH,
    new_figure,
    styled,
)

COLUMNS = (("object", "attribute"), ("relation", "reasoning", OWN))
LONGEST_LABEL = 26


def figure_taxonomy(groups: GroupRows, tags: Tags) -> Figure:
    """Plot how many questions and groups need each skill, by class.

    A question or a group needs a skill if one of its items has the tag. Skills that the paper does not have
    are a class of their own. Raises InputError where there are no tags.
    """
    groups = benchmark_groups(groups)
    tags = tags.join(groups.select("id"), on="id", how="semi")
    if tags.is_empty():
        raise InputError("figure_taxonomy: no item has a tag; give groups.tags with tags of the run's groups")
    counts = skill_counts(groups, tags)
    own = [skill for skill in counts if class_of(skill) == OWN]
    classes = {**{name: [*skills] for name, skills in SKILLS.items()}, OWN: own}
    columns = [[(name, classes[name]) for name in names if classes[name]] for names in COLUMNS]
    slots = max(sum(len(skills) + 1.4 for _, skills in column) for column in columns)
    most = max(questions for questions, _ in counts.values())
    with styled():
        figure = new_figure(TEXT_WIDTH, 0.55 + 0.15 * slots)
        for axes, column in zip(figure.subplots(1, len(columns)), columns, strict=True):
            _column(axes, column, counts, slots)
            axes.set_xlim(0, 1.22 * most)
        items = tags["id"].n_unique()
        figure.legend(
            handles=[Patch(label="questions", **POOL_FILL), Patch(label="groups", **BENCHMARK_FILL)],
            loc="outside lower center",
            ncols=2,
            title=f"{pluralize(tags.height, 'tag')} of {pluralize(items, 'item')}",
            title_fontsize=NORMAL - 0.5,
        )
    return figure


def skill_counts(groups: pl.DataFrame, tags: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """Return the number of questions and of groups that need each skill, at least one, by its name."""
    placed = tags.join(groups.select("id", "group", "q_idx"), on="id")
    counted = placed.group_by("skill").agg(
        pl.struct("group", "q_idx").n_unique().alias("questions"), pl.col("group").n_unique().alias("groups")
    )
    return {skill: (questions, whole) for skill, questions, whole in counted.sort("skill").iter_rows()}


def _column(
    axes: Any, column: Sequence[tuple[str, list[str]]], counts: dict[str, tuple[int, int]], slots: float
) -> None:
    """Plot classes below each other, each with its name above its bars."""
    top = 0.0
    ticks: list[float] = []
    names: list[str] = []
    for name, skills in column:
        heading = "own skills" if name == OWN else name
        style = {"fontsize": NORMAL, "fontweight": "bold", "color": INK, "va": "center"}
        axes.annotate(heading, (0, top + 0.45), xytext=(3, 0), textcoords="offset points", **style)
        for place, skill in enumerate(skills):
            height = top + 1.25 + place
            questions, whole = counts.get(skill, (0, 0))
            axes.barh(height, questions, 0.78, **POOL_FILL)
            axes.barh(height, whole, 0.42, **BENCHMARK_FILL)
            text = f" {questions:,} / {whole:,}" if questions else " none"
            axes.text(questions, height, text, va="center", fontsize=SMALL, color=INK)
            ticks.append(height)
            names.append(f"{label_of(skill)} (spatial)" if skill in SPATIAL else label_of(skill))
        top += len(skills) + 1.4
    axes.set_yticks(ticks, shorten_all(renderable(names), LONGEST_LABEL), family=font_families())
    axes.set_ylim(slots, -0.1)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("number")
    axes.grid(axis="x")
