"""Compute the accuracies of groups from a table of right and wrong answers, without a run."""

from pathlib import Path

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.metrics.groups import CHANCE, MEASURES, group_values
from benchc.errors import InputError
from benchc.labels import files_by_name
from benchc.rendering.markdown import markdown
from benchc.rendering.numbers import number_text
from benchc.user_table import numbers, read_user_table, refuse

PLACE = ("question", "image")
HEADER = ("model", "groups", "Acc", "Q-Acc", "I-Acc", "G-Acc")


def group_accuracy(files: list[Path], /) -> None:
    """Compute the accuracies of groups from a table of right and wrong answers, without a run.

    A file, CSV or Parquet, has a model's answers: the columns group, question (0 or 1), image (0 or 1) and
    right (0 or 1, false or true). Each group has four rows. Acc is the share of right answers, Q-Acc of
    questions right on both images, I-Acc of images with both questions right, and G-Acc of groups with four
    right answers (section 4 of NaturalBench).

    Args:
        files: answers, one file for each model; its name is the model's
    """
    rows = [["chance", "", *(number_text(CHANCE[name], False) for name in MEASURES)]]
    for name, file in files_by_name(files).items():
        values = group_values(right_answers(file))
        rows.append([name, f"{len(values):,}", *(number_text(each, False) for each in values.mean(0))])
    print(markdown(HEADER, rows), end="")


def right_answers(file: Path) -> np.ndarray:
    """Return bool[groups, 2 questions, 2 images]; InputError unless each group has these four rows once."""
    table = read_user_table(file, ("group", *PLACE, "right"))
    refuse(file, table, pl.col("group").fill_null("") == "", "group", "that of the group")
    right = pl.col("right").str.to_lowercase().replace({"false": "0", "true": "1"})
    table = table.with_columns(right)
    for column in (*PLACE, "right"):
        table = numbers(file, table, column, ("0", "1"))
    counts = table.group_by("group", maintain_order=True).agg(
        pl.len(), pl.struct(PLACE).n_unique().alias("places")
    )
    bad = counts.filter((pl.col("len") != 4) | (pl.col("places") != 4))
    if table.is_empty() or bad.height:
        named = f"group {bad['group'][0]!r} has {bad['len'][0]} rows" if bad.height else "there are no rows"
        raise InputError(f"{file}: {named}; each group needs one row for each question and image (0 and 1)")
    ordered = table.sort("group", *PLACE)["right"].to_numpy()
    return ordered.reshape(-1, 2, 2).astype(np.bool_)
