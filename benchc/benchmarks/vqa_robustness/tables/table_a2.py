"""Table A.2: accuracy by class of questions and corruption."""

import numpy as np
import polars as pl

from benchc.benchmarks.vqa_robustness.grades import Grade, Graded, answers_of
from benchc.benchmarks.vqa_robustness.inputs import PoolCategories, ReferenceAnswers
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
from benchc.judges.constant_answer import best_constant
from benchc.pluralize import pluralize
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.published import compare_with_published

CAPTION = (
    "Accuracy by class of questions: the mean over {models} and the levels {levels} of the share of right "
    "answers in the class. Last row: mean over corruptions. The first "
    "row is chance: the best answer to all questions of the class ({answers}).{others}"
)


def table_a2(
    graded: Graded,
    pool: PoolCategories,
    references: ReferenceAnswers,
    labels: dict[str, str],
    corruptions: list[str],
    grade: Grade,
    levels: Levels = "1..5",
) -> Table:
    """Return the accuracy on each class of questions under each corruption, a mean over models and levels."""
    answers = answers_of(graded, labels, corruptions, grade)
    classes = question_classes(pool)
    by_id = dict(classes.iter_rows())
    item_classes = [by_id.get(id_) for id_ in answers.items]
    names = [name for name in class_order(classes) if name in item_classes]
    accuracy = mean_over_levels(class_accuracy(answers.right, item_classes, names), levels)
    counts = [item_classes.count(name) for name in names]
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
    values = np.column_stack([accuracy, accuracy.mean(axis=1)])
    known = pl.DataFrame({"id": answers.items, "question_class": item_classes})
    constants = [
        best_constant(references.join(known.filter(question_class=name), on="id", how="semi"), grade)
        for name in names
    ]
    keys = [f"{number}" for number in range(len(names))]
    others = item_classes.count(None)
    return printed(
        frame,
        [
            Column("corruption", "Corruption"),
            *(
                Column(key, f"{HEADERS.get(name, name)} (n = {n:,})")
                for key, name, n in zip(keys, names, counts, strict=True)
            ),
        ],
        caption=CAPTION.format(
            models=pluralize(len(answers.models), "model"),
            levels=levels.replace("..", " to "),
            answers=", ".join(
                f"{HEADERS.get(name, name)}: {answer}"
                for name, (answer, _) in zip(names, constants, strict=True)
            ),
            others=f" {pluralize(others, 'question')} of other types have no class." if others else "",
        ),
        label="vre-a2",
        shown=pl.DataFrame(
            {"corruption": ["chance", *map(words, corruptions), "mean"]}
            | {
                key: [constant, *column]
                for key, (_, constant), column in zip(keys, constants, values, strict=True)
            }
        ),
        references=1,
        small=True,
        published=compare_with_published(
            frame, published_table_a2(), on=["corruption", "question_class"], values={"accuracy": "accuracy"}
        ),
        summary=f"accuracy on {len(names)} classes of questions",
    )
