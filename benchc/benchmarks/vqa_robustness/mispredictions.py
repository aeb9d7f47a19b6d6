"""The mispredictions of a run: answers that are right on the clean image, and wrong under a corruption."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from benchc.benchmarks.vqa_robustness.grades import Grade, answers_of, images_of
from benchc.benchmarks.vqa_robustness.metrics.mispredictions import KINDS, kind_of
from benchc.benchmarks.vqa_robustness.metrics.shares import Estimates, drawn_shares, estimates
from benchc.errors import InputError
from benchc.schemas.parquet import REMAKE
from benchc.schemas.predictions import CLEAN


def mispredictions(
    graded: Mapping[str, pl.DataFrame],
    questions: pl.DataFrame,
    labels: Mapping[str, str],
    corruptions: Sequence[str],
    grade: Grade,
) -> pl.DataFrame:
    """Return the columns model (id), id, corruption, severity, question, truth, reply and kind.

    With soft grades, an answer is right here if it is the reference answer by the VQA evaluator's rules.
    Arguments and errors as for :func:`answers_of`; ``questions``: as :func:`with_references` returns them.
    """
    answers_of(graded, labels, corruptions, grade)  # refuses incomplete grades
    right = pl.col("normalised" if grade == "soft" else grade)
    keys = ["id", "corruption", "severity", "reply"]
    found = pl.concat(
        graded[id_]
        .filter(pl.col("corruption").is_in(corruptions), ~right)
        .join(graded[id_].filter(right, corruption=CLEAN), on="id", how="semi")
        .select(pl.lit(id_).alias("model"), *keys)
        for id_ in labels
    ).join(questions, on="id", how="left", maintain_order="left")
    # Most wrong answers to a question are equal under most corruptions.
    words = ["question", "truth", "reply"]
    distinct = found.select(words).unique()
    kinds = pl.Series("kind", [kind_of(*row) for row in distinct.iter_rows()], dtype=pl.Enum(KINDS))
    return found.join(distinct.with_columns(kinds), on=words, how="left", maintain_order="left")


def with_references(pool: pl.DataFrame, references: pl.DataFrame) -> pl.DataFrame:
    """Return id, question and truth of each item. Raises InputError where one has no reference answer."""
    whole = pool.select("id", "question").join(references, on="id", how="left")
    if (without := whole.filter(pl.col("truth").is_null())).height:
        raise InputError(f"the references have none of item {without['id'][0]}; {REMAKE}")
    return whole


def kind_shares(
    found: pl.DataFrame, pool: pl.DataFrame, groups: Sequence[Sequence[str]], draws: int, seed: int
) -> Estimates:
    """Return the share of each kind among the mispredictions of groups of models, [groups x KINDS].

    ``found``: of :func:`mispredictions`; ``pool``: id and image_keys of each item.
    """
    items = sorted(pool["id"])
    places = {id_: place for place, id_ in enumerate(items)}
    counts = np.zeros((len(items), len(groups), len(KINDS)))
    by_item = found.group_by("model", "id", "kind").len()
    for group, models in enumerate(groups):
        for _, id_, kind, number in by_item.filter(pl.col("model").is_in(models)).iter_rows():
            counts[places[id_], group, KINDS.index(kind)] += number
    wholes = np.broadcast_to(counts.sum(axis=2, keepdims=True), counts.shape)
    flat = len(items), -1
    drawn = drawn_shares(counts.reshape(flat), wholes.reshape(flat), images_of(items, pool), draws, seed)
    return estimates(drawn)
