"""Groups with their images, questions and models' answers (figures 1, 7 and 8 of the paper)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchc.benchmarks.naturalbench.figures.chance import G_ACC
from benchc.benchmarks.naturalbench.figures.reading_names import named_readings
from benchc.benchmarks.naturalbench.inputs import GroupRows, Tags
from benchc.benchmarks.naturalbench.metrics.readings import NO_OPTION
from benchc.benchmarks.naturalbench.schemas.scores import PLACES
from benchc.benchmarks.naturalbench.scored import CleanScores, RunScores, benchmark_groups
from benchc.benchmarks.naturalbench.taxonomy import label_of
from benchc.command_line import NaturalInt, PositiveInt
from benchc.errors import InputError
from benchc.letters import LETTERS
from benchc.pixels import Pixels
from benchc.pluralize import pluralize
from benchc.randomness import seed_of
from benchc.rendering.image_grid import plot_images
from benchc.rendering.item_images import item_images
from benchc.rendering.labels import renderable, shorten_all
from benchc.rendering.shorten import shorten
from benchc.rendering.style import (
    FAINT,
    GREEN,
    TEXT_WIDTH,
    VERMILLION,
    new_figure,
    styled,
)
from benchc.rendering.text_line import POINTS, write_line
from benchc.rendering.wrap import LETTER, wrap
from benchc.schemas.parquet import iterate_groups
from benchc.schemas.pool import POOL

# Inches: two groups beside each other.
MARGIN = 0.05
GAP = 0.24
NAMES = 0.98  # left of the images: what the group is, and the models
IMAGE_HEIGHT = 1.0
LINE = 0.115
ROW_GAP = 0.16
IN_A_ROW = 2
QUESTION_LINES = 4
TAG_LINES = 5
NOTE_LINES = 4
MOST_MODELS = 8

PREFERRED = ("decoding", "deterministic")
KINDS = {"yes_no": "yes/no", "multiple_choice": "multiple choice"}
NO_ANSWER = "none"  # a reply without an answer


@dataclass(frozen=True)
class Example:
    """One group as it is plotted.

    ``facts``: lines on its left; ``images``: both; ``questions``: the lines of each, with their weights;
    ``truth``: the right answers in the order of PLACES; ``answers``: of each model by its label, with whether
    they are right, in the same order.
    """

    facts: list[str]
    images: list[Pixels]
    questions: list[list[tuple[str, str]]]
    truth: list[str]
    answers: dict[str, list[tuple[str, bool]]]


def figure_examples(
    pool: Path,
    groups: GroupRows,
    tags: Tags,
    scored: CleanScores,
    seed: NaturalInt,
    number: PositiveInt = 4,
    names: list[str] | None = None,
) -> Figure:
    """Plot some groups: both images, each question, the right answers, and those of the first eight models.

    ``names``: the groups, from mined pairs; None draws ``number`` of them (:func:`drawn_groups`). Answers
    are those that a model generated or, where most of its replies have none, the more probable ones. Below,
    the figure says how groups were drawn and read, and what chance solves. Raises InputError where there is
    no such group.
    """
    groups = benchmark_groups(groups)
    shown = names if names is not None else drawn_groups(groups, number, seed)
    unknown = [name for name in shown if name not in set(groups["group"])]
    if unknown:
        raise InputError(
            f"figure_examples: there is no group {unknown[0]!r}; the first is {groups['group'][0]!r}"
        )
    placed = groups.filter(pl.col("group").is_in(shown)).join(
        tags.group_by("id").agg("skill"), on="id", how="left"
    )
    rows = pl.concat(iterate_groups(pool, POOL, "id", set(placed["id"])))
    items = {row["id"]: row for row in rows.iter_rows(named=True)}
    found = {id_: _reading(scored, id_) for id_ in [*scored.models][:MOST_MODELS]}
    readings = {id_: reading for id_, reading in found.items() if reading is not None}
    total = groups["group"].n_unique()
    if names is not None:
        choice = f"{pluralize(len(shown), 'group')} of {total:,}, named by the user"
    else:
        turns = ", in turn of the types of questions" if groups["type"].n_unique() > 1 else ""
        choice = (
            f"{pluralize(len(shown), 'group')} of {total:,}, drawn at random by a hash (seed {seed}){turns}"
        )
    return plot(
        [_example(placed.filter(group=name), items, scored, readings, pool) for name in shown],
        f"{choice}. {_summary(scored, readings, shown)}",
    )


def drawn_groups(groups: pl.DataFrame, number: int, seed: int) -> list[str]:
    """Return ``number`` groups drawn at random: the first by a hash of seed and name, in turn of each type.

    Neither models nor the other groups decide which are drawn from a type.
    """
    by_type: dict[str, list[str]] = {}
    types = groups.select("group", "type").unique().iter_rows()
    for name, kind in sorted(types, key=lambda row: seed_of(seed, "example", row[0])):
        by_type.setdefault(kind, []).append(name)
    turns = [(place, kind, name) for kind, members in by_type.items() for place, name in enumerate(members)]
    # yes_no comes first.
    order = sorted(turns, key=lambda turn: (turn[0], turn[1] != "yes_no", turn[1]))
    return [name for _, _, name in order[:number]]


def _summary(scored: RunScores, readings: Mapping[str, str], shown: Sequence[str]) -> str:
    """Return sentences on how answers are read, and how many groups are solved by chance and by models."""
    chance = f"Chance solves {G_ACC:g} % of the groups"
    if not readings:
        return f"No model has answers to show. {chance}."
    solved = [scored.values(id_, reading)[:, -1] == 1 for id_, reading in readings.items()]
    shares = [100 * float(one.mean()) for one in solved]
    spans = " to ".join(dict.fromkeys(f"{share:.1f}" for share in (min(shares), max(shares))))
    here = scored.groups["group"].is_in(shown).to_numpy() & np.any(solved, axis=0)
    models = "the model" if len(solved) == 1 else f"each of the {len(solved)} models"
    return (
        f"Reading: {named_readings(scored, readings)}. {chance}, {models} {spans} %. At least one model "
        f"solves {here.sum()} of the {len(shown)} shown (all four answers right, ✓)."
    )


def _reading(scored: RunScores, model: str) -> str | None:
    """Return the first of PREFERRED in which most questions have an answer, else the first that there is."""
    predicted = scored.scores[model].predicted
    known = [name for name in PREFERRED if name in predicted]
    answered = [name for name in known if (predicted[name] != NO_OPTION).mean() > 0.5]
    return next(iter([*answered, *known]), None)


def _example(
    placed: pl.DataFrame,
    items: Mapping[str, Any],
    scored: RunScores,
    readings: Mapping[str, str],
    pool: Path,
) -> Example:
    """Return a group.

    ``placed``: its four rows of GROUPS, with the list skill; ``readings``: that of each model.
    """
    rows = {f"{row['q_idx']}{row['i_idx']}": row for row in placed.iter_rows(named=True)}
    found = {place: items[rows[place]["id"]] for place in PLACES}
    kind = rows["00"]["type"]
    name = rows["00"]["group"]
    skills = dict.fromkeys(label_of(skill) for place in PLACES for skill in rows[place]["skill"] or ())
    room = NAMES - 0.08
    characters = int(room / (LETTER * POINTS))
    facts = renderable([name, rows["00"]["subset"], KINDS.get(kind, kind)])
    lines = [shorten(text, characters) for text in facts]
    if skills:
        lines += ["", *_lines(", ".join(renderable([*skills])), room, TAG_LINES)]
    width = NAMES + 2 * _image_width()
    questions = [
        [
            (line, weight)
            for text, weight in _question_texts(found[f"{q}0"], kind)
            for line in _lines(text, width, QUESTION_LINES)
        ]
        for q in (0, 1)
    ]
    truth = [_word(found[place]["options"], found[place]["answer"], kind) for place in PLACES]
    answers: dict[str, list[tuple[str, bool]]] = {}
    at = scored.groups["group"].to_list().index(name)
    labels = shorten_all(renderable([scored.models[id_].label for id_ in readings]), characters)
    for (id_, reading), label in zip(readings.items(), labels, strict=True):
        chosen = scored.scores[id_].predicted[reading][at].tolist()
        # Option 0 of a score is Yes, or the first.
        words = [
            NO_ANSWER if one == NO_OPTION else ("Yes", "No")[one] if kind == "yes_no" else LETTERS[one]
            for one in chosen
        ]
        answers[label] = [(word, word == right) for word, right in zip(words, truth, strict=True)]
    images = [item_images(found[f"0{i}"], pool)[0] for i in (0, 1)]
    return Example(lines, images, questions, truth, answers)


def _question_texts(item: Mapping[str, Any], kind: str) -> list[tuple[str, str]]:
    """Return a question and its options, which its text may have after a line break, with their weights."""
    options = item["options"]
    question, _, listed = str(item["question"]).strip().partition("\n")
    if kind != "yes_no" and [*options] != [*LETTERS[: len(options)]]:
        names = [renderable([option])[0] for option in options]
        listed = "; ".join(f"{letter}: {name}" for letter, name in zip(LETTERS, names, strict=False))
    return [(question, "bold"), *([(listed, "normal")] if listed.strip() else [])]


def _word(options: Sequence[str], answer: int, kind: str) -> str:
    return options[answer].strip().capitalize() if kind == "yes_no" else LETTERS[answer]


def _lines(text: str, inches: float, most: int) -> list[str]:
    (shown,) = renderable([text])
    return wrap(shown, inches=inches, points=POINTS, lines=most)


def _image_width() -> float:
    block = (TEXT_WIDTH - 2 * MARGIN - (IN_A_ROW - 1) * GAP) / IN_A_ROW
    return (block - NAMES) / 2


def plot(examples: Sequence[Example], note: str) -> Figure:
    """Plot groups, two in a row, with ``note`` below them."""
    rows = [examples[first : first + IN_A_ROW] for first in range(0, len(examples), IN_A_ROW)]
    heights = [max(map(_height, row)) for row in rows]
    notes = wrap(note, inches=TEXT_WIDTH - 2 * MARGIN, points=POINTS, lines=NOTE_LINES)
    height = 2 * MARGIN + sum(heights) + ROW_GAP * len(rows) + LINE * len(notes)
    block = NAMES + 2 * _image_width()
    with styled():
        figure = new_figure(TEXT_WIDTH, height)
        figure.set_layout_engine("none")  # positions are explicit
        top = height - MARGIN
        for number, row in enumerate(rows):
            for column, example in enumerate(row):
                _plot_example(figure, example, MARGIN + column * (block + GAP), top)
            top -= heights[number] + ROW_GAP
            line = (top + ROW_GAP / 2) / height
            figure.add_artist(Line2D([0.01, 0.99], [line] * 2, color=FAINT, linewidth=0.4))
        for number, text in enumerate(notes):
            write_line(figure, text, MARGIN, top - LINE * number)
    return figure


def _height(example: Example) -> float:
    rows = sum(len(lines) + 1 + len(example.answers) for lines in example.questions)
    above = max(IMAGE_HEIGHT, LINE * len(example.facts))
    return above + 0.06 + LINE * rows + 0.05 * len(example.questions)


def _plot_example(figure: Figure, example: Example, left: float, top: float) -> None:
    """Plot one group; ``left``, ``top``: its upper left corner, in inches from the lower left one."""
    width, height = figure.get_size_inches()
    write = partial(write_line, figure)
    for number, line in enumerate(example.facts):
        write(line, left, top - LINE * number, color=FAINT)
    wide = _image_width()
    bottom = top - max(IMAGE_HEIGHT, LINE * len(example.facts))
    for i, image in enumerate(example.images):
        start = left + NAMES + i * wide
        axes = figure.add_axes(
            (
                (start + 0.03) / width,
                (top - IMAGE_HEIGHT) / height,
                (wide - 0.06) / width,
                IMAGE_HEIGHT / height,
            )
        )
        plot_images(axes, [image], width=wide - 0.06, height=IMAGE_HEIGHT)
    y = bottom - 0.06
    centres = [left + NAMES + (i + 0.5) * wide for i in (0, 1)]
    for q, lines in enumerate(example.questions):
        for line, weight in lines:
            write(line, left, y, fontweight=weight)
            y -= LINE
        write("right answer", left, y, color=FAINT)
        for i, x in enumerate(centres):
            write(example.truth[2 * q + i], x, y, ha="center", fontweight="bold")
        y -= LINE
        for label, answers in example.answers.items():
            write(label, left, y)
            for i, x in enumerate(centres):
                word, right = answers[2 * q + i]
                write(
                    f"{'✓' if right else '✗'} {word}", x, y, ha="center", color=GREEN if right else VERMILLION
                )
            y -= LINE
        y -= 0.05
