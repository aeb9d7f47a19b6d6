"""Figure 3 of the paper: questions of other benchmarks that models answer rightly without the image."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from benchc.benchmarks.naturalbench.blind_answers import Answers, BlindAnswers, Bools
from benchc.command_line import NaturalInt, PositiveInt
from benchc.pluralize import pluralize
from benchc.randomness import seed_of
from benchc.rendering.image_grid import plot_images
from benchc.rendering.item_images import item_images
from benchc.rendering.labels import renderable, shorten_all
from benchc.rendering.style import FAINT, TEXT_WIDTH, new_figure, styled
from benchc.rendering.text_line import POINTS, write_line
from benchc.rendering.wrap import option_text, wrap
from benchc.schemas.parquet import iterate_groups
from benchc.schemas.pool import POOL

# Inches.
MARGIN, GAP = 0.05, 0.2
IMAGE_HEIGHT = 1.0
LINE, ROW_GAP = 0.115, 0.14
IN_A_ROW = 3
LONGEST_SOURCE = 40
QUESTION_LINES, OPTION_LINES, NOTE_LINES = 4, 4, 12


def figure3(
    pool: Path,
    answers: Answers,
    labels: dict[str, str],
    seed: NaturalInt,
    share: float = 1.0,
    number: PositiveInt = 6,
) -> Figure:
    """Plot ``number`` of the questions that models answer rightly without the image, drawn at random.

    Such questions are answered by at least ``share`` of the models. The figure says how many there are of
    each source, and how many independent guesses would make.

    Args:
        pool: the items of the sources
        answers: of the models
        labels: of the sources by id, in order
        seed: of the draw, with the ids of the questions
        share: in (0, 1]
        number: of questions that are shown
    """
    solved = blind_solved(answers, share)
    shown = drawn_questions(answers.items.filter(solved), number, seed)
    rows = {
        row["id"]: row
        for table in iterate_groups(pool, POOL, "id", set(shown))
        for row in table.iter_rows(named=True)
    }
    sources = dict(zip(labels, shorten_all(renderable([*labels.values()]), LONGEST_SOURCE), strict=True))
    return _plot(
        [rows[id_] for id_ in shown], sources, pool, _note(answers, solved, labels, share, seed, len(shown))
    )


def least_number(models: int, share: float) -> int:
    """Return how many of the models are at least ``share`` of them, at least 1."""
    return max(1, math.ceil(round(share * models, 9)))


def blind_solved(answers: BlindAnswers, share: float) -> Bools:
    """Return which items at least ``share`` of the models answer rightly without the images, bool[items].

    Models that read no question without an image do not count; without others, no item is.
    """
    right = [*answers.blind.values()]
    if not right:
        return np.zeros(answers.items.height, dtype=np.bool_)
    return np.asarray(np.sum(right, axis=0) >= least_number(len(right), share), dtype=np.bool_)


def guessed(answers: BlindAnswers, share: float) -> float:
    """Return the expected number of such items if each model guessed by itself, each option as often."""
    models = len(answers.blind)
    if not models:
        return 0.0
    right = 1 / answers.items["options"].list.len().to_numpy()
    enough = range(least_number(models, share), models + 1)
    chances = [math.comb(models, k) * right**k * (1 - right) ** (models - k) for k in enough]
    return float(np.sum(chances))


def drawn_questions(items: pl.DataFrame, number: int, seed: int) -> list[str]:
    """Return the ids of ``number`` items drawn at random: the first by a hash, in turn of the sources."""
    hashed = items.select("id", "source").with_columns(
        hash=pl.Series([seed_of(seed, "blind", id_) for id_ in items["id"]], dtype=pl.UInt64)
    )
    turns = hashed.sort("hash", "id").with_columns(turn=pl.int_range(pl.len()).over("source"))
    drawn: list[str] = turns.sort("turn", "hash", "id").head(number)["id"].to_list()
    return drawn


def _note(
    answers: BlindAnswers,
    solved: Bools,
    labels: Mapping[str, str],
    share: float,
    seed: int,
    shown: int,
) -> str:
    """Return sentences on how many such questions there are, and how those that are shown were drawn."""
    models = len(answers.blind)
    if not models:
        return "No model reads a question without an image."
    least = least_number(models, share)
    who = (
        "the model"
        if models == 1
        else f"all {models} models"
        if least == models
        else (f"at least {least} of {models} models")
    )
    counts = []
    for source, label in labels.items():
        rows = answers.rows(source)
        counts.append(f"{label} {int(solved[rows].sum()):,} of {int(rows.sum()):,}")
    drawn = (
        f" Shown: {pluralize(shown, 'question')} of these, drawn at random by a hash (seed {seed}), in turn "
        f"of the benchmarks; ✓ is the right option. {'The model' if models == 1 else 'The models'} did not "
        "see the images."
        if shown
        else ""
    )
    return (
        f"Answered rightly without the image by {who}: {int(solved.sum()):,} of "
        f"{pluralize(answers.items.height, 'question')} ({guessed(answers, share):.1f} on average if "
        f"{'it' if models == 1 else 'each model'} guessed at random). By benchmark: {'; '.join(counts)}."
        f"{drawn}"
    )


def _plot(examples: Sequence[Mapping[str, Any]], labels: Mapping[str, str], pool: Path, note: str) -> Figure:
    """Plot items, three in a row, with ``note`` below them."""
    block = (TEXT_WIDTH - 2 * MARGIN - (IN_A_ROW - 1) * GAP) / IN_A_ROW
    texts = [_texts(row, labels[row["source"]], block) for row in examples]
    first = range(0, len(examples), IN_A_ROW)
    heights = [IMAGE_HEIGHT + LINE * (1 + max(map(len, texts[at : at + IN_A_ROW]))) for at in first]
    (plain,) = renderable([note])
    notes = wrap(plain, inches=TEXT_WIDTH - 2 * MARGIN, points=POINTS, lines=NOTE_LINES)
    height = 2 * MARGIN + sum(heights) + ROW_GAP * len(heights) + LINE * len(notes)
    with styled():
        figure = new_figure(TEXT_WIDTH, height)
        figure.set_layout_engine("none")  # positions are explicit
        for number, (row, lines) in enumerate(zip(examples, texts, strict=True)):
            down, across = divmod(number, IN_A_ROW)
            left = MARGIN + across * (block + GAP)
            top = height - MARGIN - sum(heights[:down]) - ROW_GAP * down
            _plot_images(figure, item_images(dict(row), pool), left, top, block)
            for place, (line, style) in enumerate(lines):
                write_line(figure, line, left, top - IMAGE_HEIGHT - 0.05 - LINE * place, **style)
        for place, line in enumerate(notes):
            write_line(figure, line, MARGIN, MARGIN + LINE * (len(notes) - place))
    return figure


def _texts(row: Mapping[str, Any], label: str, inches: float) -> list[tuple[str, dict[str, Any]]]:
    """Return the lines of an item with their style: benchmark, hint, question and options."""
    parts: list[tuple[str | None, int, dict[str, Any]]] = [
        (row["hint"], QUESTION_LINES, {}),
        (row["question"], QUESTION_LINES, {"fontweight": "bold"}),
        (option_text(row["options"], row["answer"]), OPTION_LINES, {}),
    ]
    lines: list[tuple[str, dict[str, Any]]] = [(label, {"color": FAINT})]
    for text, most, style in parts:
        for shown in renderable([text] if text else []):
            lines += [(line, style) for line in wrap(shown, inches=inches, points=POINTS, lines=most)]
    return lines


def _plot_images(figure: Figure, images: Sequence[Any], left: float, top: float, block: float) -> None:
    if not images:
        return
    width, height = figure.get_size_inches()
    box = (left / width, (top - IMAGE_HEIGHT) / height, block / width, IMAGE_HEIGHT / height)
    plot_images(figure.add_axes(box), images, width=block, height=IMAGE_HEIGHT)
