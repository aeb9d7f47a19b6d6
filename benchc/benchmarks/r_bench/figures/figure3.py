"""Figure 3: a worked example of each task, from the images to both robustness scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchc.benchmarks.r_bench.dimensions import STRENGTHS
from benchc.benchmarks.r_bench.examples import SCORE_COLUMNS, Answer, Example, judge_note, read_examples
from benchc.benchmarks.r_bench.names import named
from benchc.benchmarks.r_bench.schemas.pairs import PAIRS
from benchc.benchmarks.r_bench.tasks import TASK_LABELS, TASKS
from benchc.images import decode
from benchc.randomness import seed_of
from benchc.rendering.image_grid import plot_images
from benchc.rendering.labels import renderable, shorten_all
from benchc.rendering.noted_figure import sentence
from benchc.rendering.style import FAINT, TEXT_WIDTH, new_figure, styled
from benchc.rendering.text_line import POINTS, write_line
from benchc.rendering.wrap import LETTER, wrap
from benchc.schemas.parquet import read_table

# Inches.
MARGIN, GAP = 0.05, 0.16
IMAGE, IMAGE_HEIGHT = 1.22, 0.95
LINE = 0.115
NAME, REPLY, SCORE = 0.86, 1.1, 0.23
TEXTS = MARGIN + 2 * (IMAGE + MARGIN) + 0.06  # left end of the texts
MOST_MODELS = 4
QUESTION_LINES, TRUTH_LINES, REPLY_LINES = 3, 3, 5
HEADS = ("ref", "dis", "com", "Rₐ", "Rᵣ")  # of SCORE_COLUMNS
NOT_THERE = "(not in the run)"


class _Line(NamedTuple):
    """Texts that are beside each other: left end in inches, text, and style of each."""

    texts: Sequence[tuple[float, str, dict[str, str]]]


def figure3(
    pairs: Path,
    pool: Path,
    references: Path,
    answers: list[Path],
    judge_scores: list[Path],
    scores: list[Path],
    labels: dict[str, str],
) -> Figure:
    """Plot one of ``pairs`` of each task, with the replies and scores of the first models.

    It is one of the highest strength, the first by a hash, so that neither replies nor scores decide it.
    """
    rows = read_table(pairs, PAIRS, ["id", "task", "corruption", "severity"])
    chosen = rows.clear()
    for task in TASKS:
        of_task = rows.filter(task=task)
        strongest = of_task.filter(pl.col("severity") == pl.col("severity").max())
        order = [seed_of("figure3", *row) for row in strongest.iter_rows()]
        chosen.extend(strongest[np.argsort(order)[:1]])
    if chosen.is_empty():
        return sentence("No pair of images is chosen.")
    shown = dict([*labels.items()][:MOST_MODELS])
    examples = read_examples(pairs, pool, references, answers, judge_scores, scores, shown, chosen)
    return plot(examples, judge_note(scores))


def plot(examples: Sequence[Example], note: str = "") -> Figure:
    """Plot examples below each other, in the order of their tasks; ``note``: a line below all."""
    examples = sorted(examples, key=lambda example: TASKS.index(example.task))
    texts = [_lines(example) for example in examples]
    heights = [max(IMAGE_HEIGHT + 3 * LINE, LINE * len(lines)) + GAP for lines in texts]
    height = sum(heights) - GAP + 2 * MARGIN + (2 * LINE if note else 0)
    with styled():
        figure = new_figure(TEXT_WIDTH, height)
        figure.set_layout_engine("none")  # positions are explicit
        top = height - MARGIN
        for number, (example, lines, own) in enumerate(zip(examples, texts, heights, strict=True)):
            if number:
                y = (top + GAP / 2) / height
                figure.add_artist(Line2D([0.01, 0.99], [y, y], color=FAINT, linewidth=0.4))
            _images(figure, example, top)
            for place, line in enumerate(lines):
                for left, text, style in line.texts:
                    write_line(figure, text, left, top - LINE * place, **style)
            top -= own
        write_line(figure, note, MARGIN, MARGIN + LINE)
    return figure


def _images(figure: Figure, example: Example, top: float) -> None:
    width, height = figure.get_size_inches()
    distorted = f"{named(example.corruption)}, {STRENGTHS[example.severity]}"
    for side, (image, name) in enumerate(((example.reference, "reference"), (example.distorted, distorted))):
        left = MARGIN + side * (IMAGE + MARGIN)
        bottom = (top - IMAGE_HEIGHT) / height
        axes = figure.add_axes((left / width, bottom, IMAGE / width, IMAGE_HEIGHT / height))
        plot_images(axes, [decode(image)], width=IMAGE, height=IMAGE_HEIGHT)
        for line, text in enumerate(wrap(name, inches=IMAGE, points=POINTS, lines=2)):
            y = top - IMAGE_HEIGHT - 0.04 - LINE * line
            write_line(figure, text, left + IMAGE / 2, y, ha="center")


def _lines(example: Example) -> list[_Line]:
    """Return the question, the truth and the models' replies and scores, line by line."""
    room = TEXT_WIDTH - MARGIN - TEXTS
    bold, faint = {"fontweight": "bold"}, {"color": FAINT}
    (question,) = renderable([f"{TASK_LABELS[example.task]}: {' '.join(example.question.split())}"])
    truth = " · ".join(renderable([" ".join(text.split()) for text in example.truths]))
    options = " · ".join(renderable(example.options))
    paragraphs = [(question, QUESTION_LINES, bold), (options, TRUTH_LINES, {})]
    paragraphs.append((f"truth: {truth}", TRUTH_LINES, faint))
    lines = [
        _Line([(TEXTS, line, style)])
        for text, most, style in paragraphs
        if text
        for line in wrap(text, inches=room, points=POINTS, lines=most)
    ]
    first = TEXTS + NAME
    heads = [(first, "reply: reference", faint), (first + REPLY, "reply: distorted", faint)]
    heads += [(_score_end(place), head, faint | {"ha": "right"}) for place, head in enumerate(HEADS)]
    lines.append(_Line(heads))
    models = [answer.model for answer in example.answers]
    names = shorten_all(renderable(models), int((NAME - 0.06) / (LETTER * POINTS)))
    for name, answer in zip(names, example.answers, strict=True):
        lines += _answer_lines(name, answer)
    return lines


def _answer_lines(name: str, answer: Answer) -> list[_Line]:
    replies = [
        wrap(
            renderable([NOT_THERE if text is None else text or "(empty)"])[0],
            inches=REPLY - 0.08,
            points=POINTS,
            lines=REPLY_LINES,
        )
        for text in (answer.reference, answer.distorted)
    ]
    scores = [
        (_score_end(place), f"{answer.scores[column]:.2f}", {"ha": "right"})
        for place, column in enumerate(SCORE_COLUMNS)
    ]
    lines = []
    for number in range(max(map(len, replies))):
        texts: list[tuple[float, str, dict[str, str]]] = [
            (TEXTS + NAME + side * REPLY, reply[number], {})
            for side, reply in enumerate(replies)
            if number < len(reply)
        ]
        lines.append(_Line([(TEXTS, name, {}), *texts, *scores] if number == 0 else texts))
    order = [kind for kind in ("ref", "dis", "com") if kind in answer.judgements]
    judged = "   ".join(f"{kind} {answer.judgements[kind]}" for kind in order)
    if judged:
        lines.append(_Line([(TEXTS + NAME, f"judgements: {judged}", {"color": FAINT})]))
    return lines


def _score_end(place: int) -> float:
    """Return the right end of a column of scores."""
    return TEXTS + NAME + 2 * REPLY + SCORE * (place + 1)
