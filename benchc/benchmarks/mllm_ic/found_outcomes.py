"""The outcomes of a model: whether its predictions, or the options of its answers in words, are right."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from benchc.benchmarks.mllm_ic.schemas.outcomes import (
    REFUSED,
    RIGHT,
    TIED_RIGHT,
    TIED_WRONG,
    UNPARSED,
    WRONG,
    Codes,
    scenarios,
)
from benchc.errors import InputError
from benchc.judges.option_reply import option_of
from benchc.pluralize import pluralize
from benchc.schemas.answers_csv import read_answers
from benchc.schemas.grid import grid_rows
from benchc.schemas.logits import first_names, logit_blocks
from benchc.schemas.predictions import KEY, PREDICTIONS
from benchc.user_table import read_parquet

LOGITS = (*KEY, "logits")


class Question(NamedTuple):
    """The options of a question, and the right one, 0-based."""

    options: Sequence[str]
    answer: int


def outcomes_of(
    rows: pl.DataFrame,
    questions: Mapping[str, Question],
    corruptions: Sequence[str],
    severities: Sequence[int],
    what: str,
    mend: str,
) -> Codes:
    """Return the codes of outcomes, int8[questions, scenarios].

    Args:
        rows: the columns KEY and logits, or KEY, option and status (as in JUDGEMENTS); in any order.
        questions: those that are asked, by id, in the order of the result.
        corruptions: of the scenarios.
        severities: of each corruption.
        what: a row is, for messages, after the name of a file or model.
        mend: ends messages.

    Raises InputError where a row is missing, repeated, of another item or scenario, or has not one logit for
    each option.
    """
    numbers = grid_rows(rows, [*questions], scenarios(corruptions, severities), what, mend=mend)
    answers = np.empty(rows.height, np.int64)
    answers[numbers] = np.array([each.answer for each in questions.values()], np.int64)[:, None]
    if "logits" in rows.columns:
        options = np.empty(rows.height, np.int64)
        options[numbers] = np.array([len(each.options) for each in questions.values()], np.int64)[:, None]
        codes = _of_logits(rows, answers, options, what, mend)
    else:
        codes = _of_options(rows, answers)
    return codes[numbers]


def _of_logits(rows: pl.DataFrame, answers: np.ndarray, options: np.ndarray, what: str, mend: str) -> Codes:
    wrong = rows["logits"].list.len().fill_null(0).to_numpy() != options
    if wrong.any():
        raise InputError(
            f"{what} with another number of logits than options, in {pluralize(int(wrong.sum()), 'row')}: "
            f"{first_names(rows.filter(pl.Series(wrong)))}; {mend}"
        )
    codes = np.empty(rows.height, np.int8)
    try:
        for places, block in logit_blocks(rows):
            # Ties go to the first option.
            right = block.argmax(axis=1) == answers[places]
            tied = (block == block.max(axis=1, keepdims=True)).sum(axis=1) > 1
            codes[places] = np.where(
                tied, np.where(right, TIED_RIGHT, TIED_WRONG), np.where(right, RIGHT, WRONG)
            )
    except InputError as error:
        raise InputError(f"{what.rpartition(': ')[0]}: {error}") from error
    return codes


def _of_options(rows: pl.DataFrame, answers: np.ndarray) -> Codes:
    chosen = rows["option"].fill_null(-1).to_numpy()
    refused = (rows["status"] == "refused").to_numpy()
    without = np.where(refused, REFUSED, UNPARSED)
    return np.where(chosen < 0, without, np.where(chosen == answers, RIGHT, WRONG)).astype(np.int8)


def imported_options(
    path: Path, questions: Mapping[str, Question], corruptions: Sequence[str], severities: Sequence[int]
) -> pl.DataFrame:
    """Return the options that the answers of another program choose: the columns KEY, option and status.

    Raises InputError as :func:`read_answers`.
    """
    rows = read_answers(path, [*questions], corruptions, severities)
    # Most answers to a question are equal under most corruptions.
    distinct = rows.select("id", "reply").unique()
    found = [option_of(reply, questions[id_].options) for id_, reply in distinct.iter_rows()]
    judged = distinct.with_columns(
        option=pl.Series([each.option for each in found], dtype=pl.Int64),
        status=pl.Series([each.status for each in found], dtype=pl.String),
    )
    return rows.select(*KEY, "reply").join(judged, on=["id", "reply"], how="left").drop("reply")


def imported_logits(path: Path) -> pl.DataFrame:
    """Return the columns KEY and logits of predictions of another program.

    Raises InputError where the file cannot be read, or lacks one.
    """
    rows = read_parquet(path, LOGITS)
    try:
        found = rows.select(pl.col(name).cast(PREDICTIONS.columns[name]) for name in LOGITS)
        # A cast cuts off a fraction.
        if rows["severity"].dtype.is_float() and (rows["severity"] != found["severity"]).any():
            raise pl.exceptions.InvalidOperationError
        return found
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"{path}: id and corruption should be texts, severity a whole number, and logits lists of "
            "numbers; correct the types of the columns"
        ) from error
