"""Table A.2: accuracy by class of questions and corruption."""

import numpy as np
import polars as pl

from benchc.benchmarks.vqa_robustness.grades import Grade, Graded, answers_of
from benchc.benchmarks.vqa_robustness.inputs import PoolCategories
from benchc.benchmarks.vqa_robustness.metrics.classes import (
    HEADERS,
    class_accuracy,
    class_order,
    mean_over_levels,
    question_classes,
)
from benchc.benchmarks.vqa_robustness.metrics.severity import Levels
from benchc.benchmarks.vqa_robustness.published.tables import published_table_a2
from benchc.benchmarks.vqa_robustness.tables.names import words
from benchc.pluralize import pluralize
from benchc.rendering.latex import latex_number, latex_symbols, latex_table, latex_text
from benchc.rendering.markdown import captioned
from benchc.rendering.numbers import number_text
from benchc.rendering.output import Table
from benchc.rendering.published import compare_with_published

CAPTION = (
    "Accuracy by class of questions: the mean over {models} and the levels {levels} of the share of right "
    "answers in the class. Last row: mean over corruptions.{others}"
)


def table_a2(
    graded: Graded,
    pool: PoolCategories,
    labels: dict[str, str],
    corruptions: list[str],
    grade: Grade,
    levels: Levels = "1..5",
) -> Table:
    """Return the accuracy on each class of questions under each corruption, a mean over models and levels."""
    answers = answers_of(graded, labels, corruptions, grade)
    classes = question_classes(pool)
    of_items = dict(classes.iter_rows())
    mine = [of_items.get(id_) for id_ in answers.items]
    names = [name for name in class_order(classes) if name in mine]
    accuracy = mean_over_levels(class_accuracy(answers.right, mine, names), levels)
    counts = [mine.count(name) for name in names]
    frame = pl.DataFrame(
        [
            (corruption, name, counts[k], float(accuracy[k, c]))
            for c, corruption in enumerate(corruptions)
            for k, name in enumerate(names)
        ],
        schema={
            "corruption": pl.String,
            "question_class": pl.String,
            "n": pl.Int64,
            "accuracy": pl.Float64,
        },
        orient="row",
    )
    header = ["Corruption"]
    header += [f"{HEADERS.get(name, name)} (n = {n:,})" for name, n in zip(names, counts, strict=True)]
    values = np.column_stack([accuracy, accuracy.mean(axis=1)]).T
    rows = [
        [name, *(number_text(float(value), signed=False) for value in row)]
        for name, row in zip([*map(words, corruptions), "mean"], values, strict=True)
    ]
    others = mine.count(None)
    caption = CAPTION.format(
        models=pluralize(len(answers.models), "model"),
        levels=levels.replace("..", " to "),
        others=f" {pluralize(others, 'question')} of other types have no class." if others else "",
    )
    latex = latex_table(
        [latex_symbols(name) for name in header],
        [[latex_text(row[0]), *map(latex_number, row[1:])] for row in rows],
        caption=latex_symbols(caption),
        label="vre-a2",
        small=True,
    )
    published = compare_with_published(
        frame, published_table_a2(), on=["corruption", "question_class"], values={"accuracy": "accuracy"}
    )
    return Table(
        frame,
        captioned(header, rows, caption),
        latex,
        published,
        f"accuracy on {len(names)} classes of questions",
    )
