"""Answers to questions about colours, clean and on greyscale images, and to all others (Figure A.4)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from benchc.benchmarks.vqa_robustness.grades import Grade, answers_of, images_of
from benchc.benchmarks.vqa_robustness.metrics.colour import asks_colour, names_hue
from benchc.benchmarks.vqa_robustness.metrics.shares import drawn_shares, estimates

LEVEL = 1  # the others of such a corruption are the same image
NO_GREYSCALE = "No images are greyscale: corruptions.types has neither grayscale nor grayscale_luma."
NO_QUESTION = "No question of the pool asks for a colour."

KINDS = ("colour", "other")
VALUES = ("clean", "greyscale", "drop", "hue")


def asking_colour(questions: pl.DataFrame) -> list[str]:
    """Return the ids of questions that ask for a colour; ``questions``: id, question and truth."""
    return [
        id_ for id_, *words in questions.select("id", "question", "truth").iter_rows() if asks_colour(*words)
    ]


def greyscale_replies(graded: Mapping[str, pl.DataFrame], corruption: str) -> pl.DataFrame:
    """Return model (id), id and reply of each answer about a greyscale image."""
    return pl.concat(
        table.filter(corruption=corruption, severity=LEVEL).select(pl.lit(id_).alias("model"), "id", "reply")
        for id_, table in graded.items()
    )


def colour_questions(
    graded: Mapping[str, pl.DataFrame],
    pool: pl.DataFrame,
    questions: pl.DataFrame,
    labels: Mapping[str, str],
    corruption: str,
    grade: Grade,
    draws: int,
    seed: int,
) -> pl.DataFrame:
    """Return one row per model and kind of question: n, and ``VALUES`` with the ends of their intervals.

    ``clean`` and ``greyscale`` are accuracies, ``drop`` is their difference, and ``hue`` the share of answers
    on greyscale images that name a colour other than black, white and greys; of ``KINDS``, the first alone
    has it. Null without questions; ends as in :class:`Estimates`.

    Args:
        graded: GRADES tables by the ids of their models.
        pool: id and image_keys of each item.
        questions: id, question and truth of each item.
        labels: the names of the models by id.
        corruption: by which the images are greyscale.
        grade: the column that decides when an answer is right.
        draws: resamples of the images.
        seed: their seed.
    """
    answers = answers_of(graded, labels, [corruption], grade)
    colour = pl.Series(answers.items).is_in(asking_colour(questions)).to_numpy()
    hues = {
        (model, id_): names_hue(reply)
        for model, id_, reply in greyscale_replies(graded, corruption).iter_rows()
    }
    named = np.array([[hues[model, id_] for id_ in answers.items] for model in labels], dtype=np.float64)
    values = np.stack([answers.right[:, 0, 0], answers.right[:, 0, LEVEL], named])  # [3, models, items]
    kinds = np.stack([colour, ~colour]).astype(np.float64)  # [2, items]
    parts = (values[:, :, None] * kinds).reshape(-1, len(answers.items)).T
    wholes = np.broadcast_to(kinds, (*values.shape[:2], *kinds.shape)).reshape(-1, len(answers.items)).T
    drawn = drawn_shares(parts, wholes, images_of(answers.items, pool), draws, seed)
    clean, greyscale, hue = np.moveaxis(drawn.reshape(-1, 3, len(labels) * len(KINDS)), 1, 0)
    columns: dict[str, Any] = {}
    for name, each in zip(VALUES, (clean, greyscale, clean - greyscale, hue), strict=True):
        found = estimates(each)
        columns |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
    return (
        pl.DataFrame(
            {
                "model": [label for label in labels.values() for _ in KINDS],
                "questions": [*KINDS] * len(labels),
                "n": [int(count) for count in kinds.sum(axis=1)] * len(labels),
                **columns,
            }
        )
        .fill_nan(None)
        .with_columns(pl.when(questions="colour").then(pl.col("^hue.*$")))
    )
