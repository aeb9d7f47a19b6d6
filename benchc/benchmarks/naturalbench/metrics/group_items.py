"""The items of groups as arrays: [groups, 2 questions, 2 images]."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.naturalbench.metrics.debias import Integers
from benchc.benchmarks.naturalbench.metrics.extraction import WORDS
from benchc.benchmarks.naturalbench.schemas.groups import RANDOM
from benchc.benchmarks.naturalbench.schemas.scores import PLACES
from benchc.errors import InputError
from benchc.schemas.grid import grid_rows
from benchc.schemas.parquet import REMAKE

FIX = "correct its source and run snakemake again"
SIDES = 2  # questions of a group, images of a group, options of an item

Cell = tuple[str, int]  # a corruption and a severity


@dataclass(frozen=True)
class GroupItems:
    """The groups in the order of GROUPS.

    Option 0 is Yes, or the first of a multiple-choice question. Arrays of items are [groups, 2 questions, 2
    images].
    """

    groups: tuple[str, ...]
    types: tuple[str, ...]  # yes_no or multiple_choice
    ids: npt.NDArray[np.object_]
    truth: Integers  # the right option, 0 or 1
    reversed: npt.NDArray[np.bool_]  # whether an item lists No before Yes
    mined: npt.NDArray[np.bool_]  # by group: no random pair, from which no threshold is chosen
    texts: npt.NDArray[np.object_]  # a tuple of the two options of each item, as it lists them


def group_items(groups: pl.DataFrame, pool: pl.DataFrame) -> GroupItems:
    """Return the items of ``groups`` (as GROUPS); ``pool``: id, options and answer of each item.

    Raises InputError, naming the group, where it has not one item for each question and image, items of two
    types or none of the pool, other than two options, of yes_no other options than Yes and No, or answers
    that do not alternate.
    """
    pool = pool.select("id", "options", "answer")
    rows = groups.join(pool, on="id", how="left", maintain_order="left")
    _refuse(rows, pl.col("options").is_null(), "has an item that is not in the pool")
    names = rows.select(pl.col("group").unique(maintain_order=True)).with_row_index("number")
    rows = rows.join(names, on="group").sort("number", "q_idx", "i_idx")
    place = pl.format("{}{}", "q_idx", "i_idx")
    whole = rows.group_by("group", maintain_order=True).agg(
        pl.col("type", "method").first(),
        place.str.join(" ").alias("places"),
        pl.col("type").n_unique().alias("types"),
    )
    _refuse(whole, pl.col("places") != " ".join(PLACES), "has not one item for each question and image")
    _refuse(whole, pl.col("types") != 1, "has questions of two types")
    _refuse(rows, pl.col("options").list.len() != SIDES, "has an item with other than two options")
    first, second = (
        pl.col("options").list.get(option).str.strip_chars().str.to_lowercase() for option in range(SIDES)
    )
    yes, no = WORDS["yes_no"]
    rows = rows.with_columns(
        (pl.col("type") == "yes_no").alias("words"), ((first == no) & (second == yes)).alias("reversed")
    )
    _refuse(
        rows,
        pl.col("words") & ~pl.col("reversed") & ((first != yes) | (second != no)),
        "has the type yes_no and other options than Yes and No",
    )
    shape = (-1, SIDES, SIDES)
    is_reversed = (rows["words"] & rows["reversed"]).to_numpy().reshape(shape)
    answers = rows["answer"].to_numpy().astype(np.int64).reshape(shape)
    truth = np.where(is_reversed, 1 - answers, answers)
    alternate = (truth[:, 0] != truth[:, 1]).all(axis=1) & (truth[:, :, 0] != truth[:, :, 1]).all(axis=1)
    _refuse(whole, ~pl.lit(pl.Series(alternate)), "has answers that do not alternate")
    ids = rows["id"].to_numpy().astype(object).reshape(shape)
    texts = np.empty(rows.height, dtype=object)
    texts[:] = [tuple(options) for options in rows["options"]]
    mined = (whole["method"] != RANDOM).to_numpy()
    return GroupItems(
        tuple(whole["group"]), tuple(whole["type"]), ids, truth, is_reversed, mined, texts.reshape(shape)
    )


def arranged(rows: pl.DataFrame, ids: npt.NDArray[np.object_], cells: Sequence[Cell], what: str) -> Integers:
    """Return the numbers of the rows of each item in each cell, int64[cells, *ids.shape].

    ``rows`` have the columns KEY; ``what``: a word for a row in messages. Raises InputError where a row is
    repeated, missing, or of another item or cell.
    """
    found = grid_rows(rows, ids.ravel().tolist(), cells, what, mend=REMAKE)
    return found.T.reshape(len(cells), *ids.shape)


def _refuse(rows: pl.DataFrame, wrong: pl.Expr, problem: str) -> None:
    found = rows.filter(wrong)
    if found.height:
        raise InputError(f"group {found['group'][0]!r} {problem}; {FIX}")
