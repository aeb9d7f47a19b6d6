"""Accuracy of each model by class of questions, corruption and level, for a csv file."""

import polars as pl

from benchc.benchmarks.vqa_robustness.grades import Grade, Graded, answers_of
from benchc.benchmarks.vqa_robustness.inputs import PoolCategories
from benchc.benchmarks.vqa_robustness.metrics import classes as metrics
from benchc.benchmarks.vqa_robustness.metrics.classes import class_order, question_classes
from benchc.benchmarks.vqa_robustness.metrics.severity import LEVELS
from benchc.rendering.output import Table


def class_accuracy(
    graded: Graded, pool: PoolCategories, labels: dict[str, str], corruptions: list[str], grade: Grade
) -> Table:
    """Return one row per class, model, corruption and level: n, the questions of the class, and accuracy."""
    answers = answers_of(graded, labels, corruptions, grade)
    classes = question_classes(pool)
    by_id = dict(classes.iter_rows())
    item_classes = [by_id.get(id_) for id_ in answers.items]
    names = [name for name in class_order(classes) if name in item_classes]
    accuracy = metrics.class_accuracy(answers.right, item_classes, names)
    rows = [
        (name, model, corruption, level, item_classes.count(name))
        for name in names
        for model in answers.models
        for corruption in answers.corruptions
        for level in range(LEVELS)
    ]
    schema = {
        "question_class": pl.String,
        "model": pl.String,
        "corruption": pl.String,
        "level": pl.Int64,
        "n": pl.Int64,
    }
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return Table(frame.with_columns(pl.Series("accuracy", accuracy.ravel())))
