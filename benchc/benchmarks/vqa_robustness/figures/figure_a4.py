"""Figure A.4: questions about colours on greyscale images."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from benchc.benchmarks.vqa_robustness.colour_questions import (
    LEVEL,
    NO_GREYSCALE,
    NO_QUESTION,
    asking_colour,
    colour_questions,
    greyscale_replies,
)
from benchc.benchmarks.vqa_robustness.grades import Grade, Graded
from benchc.benchmarks.vqa_robustness.inputs import References
from benchc.benchmarks.vqa_robustness.metrics.colour import names_hue
from benchc.benchmarks.vqa_robustness.mispredictions import with_references
from benchc.command_line import PositiveInt
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.variants import variants_of_image
from benchc.pixels import Pixels
from benchc.randomness import seed_of
from benchc.rendering.image_grid import plot_images
from benchc.rendering.labels import font_families, renderable, shorten_all
from benchc.rendering.noted_figure import sentence
from benchc.rendering.shorten import shorten
from benchc.rendering.style import (
    BLUE,
    FAINT,
    INK,
    NORMAL,
    TEXT_WIDTH,
    VERMILLION,
    new_figure,
    styled,
)
from benchc.rendering.wrap import LETTER, wrap
from benchc.schemas.parquet import iterate_groups, read_table
from benchc.schemas.pool import POOL
from benchc.transparency import Alpha

# Inches.
MARGIN = 0.05
LEFT = 1.05  # for the names of models
GAP = 0.16
TITLE, ROW, AXIS = 0.18, 0.2, 0.5
LINE = 0.115
IMAGE_HEIGHT = 1.0
EXAMPLES = 4  # in the one row that there is
QUESTION_LINES = 3
MOST_MODELS = 6  # of an example
POINTS = NORMAL - 0.5

NO_HUE = "No answer to a question about a colour names a hue on a greyscale image."
# The column of the table, its mark, and its place beside the line of the model.
CLEAN = ("clean", {"marker": "o", "color": BLUE, "markerfacecolor": BLUE}, -0.17)
GREYSCALE = ("greyscale", {"marker": "o", "color": VERMILLION, "markerfacecolor": "white"}, 0.17)
HUE = ("hue", {"marker": "s", "color": INK, "markerfacecolor": INK}, 0.0)


@dataclass(frozen=True)
class Example:
    """A question about a greyscale image, its reference answer, and the answers of models by their labels."""

    images: list[Pixels]
    question: str
    truth: str
    replies: dict[str, str]


def figure_a4(
    graded: Graded,
    pool: Path,
    references: References,
    labels: dict[str, str],
    grade: Grade,
    draws: PositiveInt,
    seed: int,
    recipe: Recipe | None = None,
    image_seed: int = 0,
    alpha: Alpha = "drop",
) -> Figure:
    """Plot accuracy on questions about colours and on others, clean and on greyscale images, with examples.

    Args:
        graded: grades of all models.
        pool: pool/items.parquet.
        references: the reference answers.
        labels: the names of the models by id.
        grade: the column that decides when an answer is right.
        draws: resamples of the images, for intervals.
        seed: their seed.
        recipe: of the corruption by which images are greyscale; None, of a run without, plots a sentence.
        image_seed: the run's.
        alpha: how transparency is handled.
    """
    if recipe is None:
        return sentence(NO_GREYSCALE)
    items = read_table(pool, POOL, ["id", "question", "image_keys"])
    questions = with_references(items, references)
    values = colour_questions(graded, items, questions, labels, recipe.name, grade, draws, seed)
    if not values["n"][0]:
        return sentence(NO_QUESTION)
    replies = greyscale_replies(graded, recipe.name)
    examples = []
    for id_ in chosen_examples(questions, replies, EXAMPLES):
        (rows,) = iterate_groups(pool, POOL, "id", {id_})
        row = rows.row(0, named=True)
        images = [
            variants_of_image(key, image["bytes"], recipe, [LEVEL], image_seed, alpha)[LEVEL]
            for key, image in zip(row["image_keys"], row["images"], strict=True)
        ]
        of_item = dict(replies.filter(id=id_).select("model", "reply").iter_rows())
        shown = {label: of_item[model] for model, label in [*labels.items()][:MOST_MODELS]}
        examples.append(Example(images, row["question"], questions.filter(id=id_)["truth"][0], shown))
    return plot(values, examples)


def chosen_examples(questions: pl.DataFrame, replies: pl.DataFrame, number: int) -> list[str]:
    """Return the ids of up to ``number`` questions about colours to which an answer names a hue.

    They are in the order of a hash of their ids; of those with one text, the first counts.

    Args:
        questions: id, question and truth of each item.
        replies: id and reply, about greyscale images.
        number: how many.
    """
    named = {id_ for id_, reply in replies.select("id", "reply").iter_rows() if names_hue(reply)}
    texts = dict(questions.select("id", "question").iter_rows())
    first: dict[str, str] = {}
    for id_ in sorted(
        named.intersection(asking_colour(questions)), key=lambda id_: seed_of("figure_a4", id_)
    ):
        first.setdefault(texts[id_], id_)
    return [*first.values()][:number]


def plot(values: pl.DataFrame, examples: Sequence[Example]) -> Figure:
    """Plot the values of :func:`colour_questions`, and below them examples in a row."""
    labels = values["model"].unique(maintain_order=True).to_list()
    letters = int((LEFT - 0.1) / (LETTER * POINTS))
    names = dict(zip(labels, shorten_all(renderable(labels), letters), strict=True))
    above = TITLE + ROW * len(labels) + AXIS
    texts = [_lines(example, names) for example in examples]
    below = IMAGE_HEIGHT + 0.06 + LINE * max(map(len, texts)) if texts else 2 * LINE
    height = 2 * MARGIN + above + GAP + below
    with styled():
        figure = new_figure(TEXT_WIDTH, height)
        figure.set_layout_engine("none")  # positions are explicit
        _panels(figure, values, [*names.values()], height - MARGIN)
        if not examples:
            _write(figure, TEXT_WIDTH / 2, MARGIN + LINE, NO_HUE, ha="center")
        for column, (example, lines) in enumerate(zip(examples, texts, strict=True)):
            _example(figure, example, lines, MARGIN + column * (_width() + GAP), MARGIN + below)
    return figure


def _panels(figure: Figure, values: pl.DataFrame, names: Sequence[str], top: float) -> None:
    """Plot the three panels below ``top``, in inches from below; ``names``: of the models, as printed."""
    total, height = figure.get_size_inches()
    width = (TEXT_WIDTH - LEFT - 3 * MARGIN - 2 * GAP) / 3
    panels: list[tuple[str, str, str, Sequence[Any]]] = [
        ("colour", "questions about a colour", "accuracy", (CLEAN, GREYSCALE)),
        ("other", "other questions", "accuracy", (CLEAN, GREYSCALE)),
        ("colour", "answers that name a hue", "share on greyscale images", (HUE,)),
    ]
    for place, (kind, title, label, marks) in enumerate(panels):
        rows = values.filter(questions=kind)
        left = MARGIN + LEFT + place * (width + GAP)
        bottom = top - TITLE - ROW * len(names)
        axes: Any = figure.add_axes((left / total, bottom / height, width / total, ROW * len(names) / height))
        axes.set_title(f"{title} (n = {rows['n'][0]:,})")
        for column, mark, shift in marks:
            for row, (value, low, high) in enumerate(
                rows.select(column, f"{column}_low", f"{column}_high").iter_rows()
            ):
                if value is None:
                    continue
                if low is not None:
                    axes.hlines(row + shift, low, high, color=mark["color"], linewidth=0.9, zorder=2)
                axes.plot(
                    [value],
                    [row + shift],
                    linestyle="none",
                    markersize=3.6,
                    zorder=3,
                    clip_on=False,
                    label=column,
                    **mark,
                )
        axes.set(xlim=(0, 1), xticks=[0, 0.25, 0.5, 0.75, 1], ylim=(len(names) - 0.5, -0.5), xlabel=label)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)
        axes.set_yticks(range(len(names)), names if place == 0 else [], family=font_families())
        if place == 0:
            handles, found = axes.get_legend_handles_labels()
            unique = dict(zip(found, handles, strict=True))
            # Below the first two panels, which it is of.
            middle = (left + width + GAP / 2) / total, (bottom - AXIS) / height
            axes.legend(
                [*unique.values()],
                [{"clean": "clean images", "greyscale": "greyscale images"}[name] for name in unique],
                loc="lower center",
                bbox_to_anchor=middle,
                bbox_transform=figure.transFigure,
                ncols=2,
            )


def _width() -> float:
    return (TEXT_WIDTH - 2 * MARGIN - (EXAMPLES - 1) * GAP) / EXAMPLES


def _lines(example: Example, names: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return the lines below an image: text, weight and colour; ``names``: of the models, as printed."""
    (question,) = renderable([example.question])
    lines = [
        (line, "bold", INK) for line in wrap(question, inches=_width(), points=POINTS, lines=QUESTION_LINES)
    ]
    letters = int(_width() / (LETTER * POINTS))
    (truth,) = renderable([example.truth])
    lines.append((shorten(f"reference: {truth}", letters), "normal", FAINT))
    replies = renderable([*example.replies.values()])
    for label, reply in zip(example.replies, replies, strict=True):
        lines.append((shorten(f"{names[label]}: {reply or '(empty)'}", letters), "normal", INK))
    return lines


def _example(figure: Figure, example: Example, lines: Sequence[Any], left: float, top: float) -> None:
    total, height = figure.get_size_inches()
    axes = figure.add_axes(
        (left / total, (top - IMAGE_HEIGHT) / height, _width() / total, IMAGE_HEIGHT / height)
    )
    plot_images(axes, example.images, width=_width(), height=IMAGE_HEIGHT)
    for number, (line, weight, colour) in enumerate(lines):
        y = top - IMAGE_HEIGHT - 0.06 - LINE * number
        middle = left + _width() / 2
        _write(figure, middle, y, line, ha="center", va="top", fontweight=weight, color=colour)


def _write(figure: Figure, x: float, y: float, text: str, **style: Any) -> None:
    width, height = figure.get_size_inches()
    look: Mapping[str, Any] = {"fontsize": POINTS, "color": INK, "family": font_families(), **style}
    figure.text(x / width, y / height, text, **look)
