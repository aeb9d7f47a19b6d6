"""Classes of questions, and the accuracy on each (Table A.2)."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from benchc.benchmarks.vqa_robustness.metrics.severity import LEVELS, Floats, Levels

# The classes of Table A.2 by VQAv2's question types. The paper does not say which types "Is/are the" is.
CLASSES = {
    "is this": "is_this",
    "what": "what",
    "what is": "what_is",
    "is the": "is_are_the",
    "are the": "is_are_the",
    "how many": "how_many",
    "what color is": "what_color_is",
    "what kind of": "what_kind_of",
}
HEADERS = {
    "is_this": "Is this",
    "what": "What",
    "what_is": "What is",
    "is_are_the": "Is/are the",
    "how_many": "How many",
    "what_color_is": "What color is",
    "what_kind_of": "What kind of",
}
NO_CATEGORY = "(none)"


def question_classes(pool: pl.DataFrame) -> pl.DataFrame:
    """Return the class of each question, columns id, question_class.

    ``pool``: id and category of each item. Where a category is a question type of Table A.2, the classes are
    those of that table, and questions of other types have none, null; otherwise the categories are the
    classes.
    """
    known = pl.col("category").str.strip_chars().str.to_lowercase().replace_strict(CLASSES, default=None)
    classes = pool.select("id", known.alias("question_class"))
    if classes["question_class"].null_count() < classes.height:
        return classes
    return pool.select("id", pl.col("category").fill_null(NO_CATEGORY).alias("question_class"))


def class_order(classes: pl.DataFrame) -> list[str]:
    """Return the classes that have questions: in the order of Table A.2, or else sorted."""
    found = set(classes["question_class"].drop_nulls())
    return [name for name in HEADERS if name in found] if found <= set(HEADERS) else sorted(found)


def class_accuracy(right: Floats, classes: Sequence[str | None], names: Sequence[str]) -> Floats:
    """Return the share of right answers among the questions of each class, micro-averaged.

    Args:
        right: float[models, corruptions, 6, items] in [0, 1].
        classes: that of each item.
        names: the classes to return, each with a question.

    Returns float[classes, models, corruptions, 6].
    """
    of_items = np.array([name or "" for name in classes])
    return np.stack([right[..., of_items == name].mean(axis=-1) for name in names])


def mean_over_levels(accuracy: Floats, levels: Levels) -> Floats:
    """Return the mean over models and levels, float[classes, corruptions].

    ``accuracy``: float[classes, models, corruptions, 6].
    """
    first = 0 if levels == "0..5" else 1
    mean: Floats = accuracy[..., first:LEVELS].mean(axis=(1, 3))
    return mean
