"""Compute RAS from a table of predictions, without a run."""

import sys
from pathlib import Path

import numpy as np
import polars as pl

from benchc.atomic import write_text
from benchc.benchmarks.bench_c.metrics.aggregate import cell_means, clean_means, overall_means
from benchc.benchmarks.bench_c.metrics.scoring import MEND, score
from benchc.benchmarks.bench_c.no_logits import as_array, doubts_about, fault_of
from benchc.errors import InputError
from benchc.labels import files_by_name
from benchc.letters import LETTERS
from benchc.pluralize import pluralize
from benchc.rendering.markdown import markdown
from benchc.rendering.numbers import number_text
from benchc.schemas.predictions import KEY
from benchc.schemas.printed import csv_text
from benchc.user_output import refuse_overwriting
from benchc.user_table import read_user_table, refuse, whole_number

# Items of which some would have the first option as their answer.
MANY = 10

LOGITS = "a number for each option, separated by spaces: two or more, below inf, and not all of them -inf"
MEANS = ("correct", "delta_entropy", "delta_calibration", "ras")
HEADER = ("model", "items", "clean accuracy", "accuracy", "ΔH", "ΔC", "RAS")


def ras(files: list[Path], /, *, answers: Path | None = None, output: Path | None = None) -> None:
    """Compute RAS from a table of predictions, without a run.

    A file, CSV or Parquet, has a model's predictions: the columns id, corruption, severity, answer and
    logits. corruption is clean at severity 0; each item has one row for it, and one for each corruption and
    severity of the file. answer is the right option, its letter or its number from 0. logits are those of the
    options, or their log-probabilities: numbers separated by spaces or commas. Prints means over items and
    then over corruptions and severities (eq. 6 to 11 of Bench-C, without kappa).

    Args:
        files: predictions, one file for each model; its name is the model's
        answers: CSV or Parquet with id and answer, such as pool/items.parquet of a run, where the files of
            predictions do not have them
        output: CSV file to write, the means by model, corruption and severity
    """
    if output is not None:
        refuse_overwriting(output, files if answers is None else [*files, answers])
    known = None if answers is None else _answers(answers, read_user_table(answers, ("id", "answer")))
    rows, cells = [], []
    first: tuple[Path, pl.DataFrame, pl.DataFrame] | None = None
    for name, file in files_by_name(files).items():
        table = _table(file, known is None)
        items = known if known is not None else _answers(file, table)
        if known is not None and "answer" in table.columns:
            _refuse_other_answers(file, _answers(file, table), known, answers)
        scores = _scores(file, table, items, answers)
        if first is not None and answers is None:
            _refuse_other_answers(file, items, first[2], first[0])
        first = first or (file, scores.select(KEY), items)
        if scores.join(first[1], on=KEY, how="semi").height != max(scores.height, first[1].height):
            print(
                f"warning: {file} has other items, corruptions or severities than {first[0]}, so that their "
                "rows do not compare",
                file=sys.stderr,
            )
        values = [pl.col(name).cast(pl.Float64) for name in MEANS]
        means, clean = overall_means(scores, values), clean_means(scores)["acc_clean"]
        shown = [number_text(clean, False), number_text(means["correct"], False)]
        shown += [number_text(means[name], True) for name in MEANS[1:]]
        rows.append([name, f"{scores['id'].n_unique():,}", *shown])
        cells.append(cell_means(scores, values).select(pl.lit(name).alias("model"), pl.all()))
    if output is not None:
        write_text(output, csv_text(pl.concat(cells).rename({"correct": "accuracy"})))
    print(markdown(HEADER, rows), end="")


def _table(file: Path, needs_answers: bool) -> pl.DataFrame:
    """Return the columns of a file of predictions, with answers where it has them or needs them."""
    try:
        return read_user_table(file, [*KEY, "answer", "logits"])
    except InputError as error:
        if "has no column 'answer'" not in str(error):
            raise
        if needs_answers:
            raise InputError(f"{error}; or give --answers, a table with id and answer") from error
        return read_user_table(file, [*KEY, "logits"])


def _refuse_other_answers(file: Path, found: pl.DataFrame, known: pl.DataFrame, source: Path | None) -> None:
    """Raise InputError where an item has another right option in one of two files."""
    both = found.join(known, on="id", suffix="_known", maintain_order="left")
    other = both.filter(pl.col("answer") != pl.col("answer_known"))
    if other.height:
        id_, answer, right = other.row(0)
        raise InputError(
            f"{file}: item {id_} has the answer {LETTERS[answer]}, and in {source} it has {LETTERS[right]}; "
            "correct one of them"
        )


def _scores(file: Path, table: pl.DataFrame, items: pl.DataFrame, answers: Path | None) -> pl.DataFrame:
    refuse(file, table, pl.col("id").fill_null("") == "", "id", "that of the item")
    if answers is not None:
        unknown = ~pl.col("id").is_in(items["id"].implode())
        refuse(file, table, unknown, "id", f"one of {answers}: add the item there, or correct the id")
    severity = whole_number("severity")
    refuse(file, table, severity.is_null() | (severity < 0), "severity", "a whole number, 0 for clean")
    text = pl.col("logits").str.strip_chars("[] \t\r\n").str.replace_all(r"\s+", " ")
    text = text.str.replace_all(r" ?([,;]) ?", "$1")
    logits = text.str.replace_all("[,;]", " ").str.split(" ").cast(pl.List(pl.Float64), strict=False)
    is_number = (pl.element() < np.inf).fill_null(value=False)
    wrong = logits.list.eval(~is_number).list.any().fill_null(value=True)
    wrong |= (logits.list.len() < 2) | (logits.list.max() == -np.inf)
    # Of "1,5 2,5", the commas may be decimal points.
    mixed = pl.sum_horizontal(text.str.contains(mark, literal=True) for mark in ",; ") > 1
    refuse(file, table, wrong | mixed, "logits", LOGITS)
    predictions = table.select("id", "corruption", severity, logits)
    values = as_array(predictions["logits"])
    if len(values) and (fault := fault_of(values)):
        raise InputError(f"{file}: {fault}")
    for doubt in doubts_about(values):
        print(f"warning: {file}: {doubt}", file=sys.stderr)
    options = predictions.group_by("id").agg(options=pl.col("logits").list.len().first())
    items = items.join(options, on="id", maintain_order="left")
    beyond = items.filter(pl.col("answer") >= pl.col("options"))
    if beyond.height:
        id_, answer, count = beyond.row(0)
        raise InputError(
            f"{file if answers is None else answers}: item {id_}: the answer is number {answer} from 0 "
            f"({LETTERS[answer]}), but it has {pluralize(count, 'option')}; correct it"
        )
    try:
        return score(predictions, items)
    except InputError as error:
        # Without the advice on a setting of runs.
        problem = str(error).partition(" (or set ")[0].replace(MEND, "correct the file")
        raise InputError(f"{file}: {problem}") from error


def _answers(file: Path, table: pl.DataFrame) -> pl.DataFrame:
    """Return id and answer of each item, the number of an option from 0."""
    letters = {letter: number for number, letter in enumerate(LETTERS)}
    given = whole_number("answer")
    number = pl.coalesce(
        given,
        pl.col("answer").str.to_uppercase().replace_strict(letters, default=None, return_dtype=pl.Int64),
    )
    beyond = ~number.is_between(0, len(LETTERS) - 1).fill_null(value=False)
    refuse(file, table, beyond, "answer", "the letter of an option, or its number from 0")
    is_number = given.is_not_null()
    refuse(file, table, is_number != is_number.first(), "answer", "a letter in all rows, or a number in all")
    other = number != number.first().over("id")
    refuse(file, table, other, "answer", "the same in all rows of an item")
    found = table.select("id", number.alias("answer")).unique("id", maintain_order=True)
    least = table.select(number.min()).item()
    if found.height >= MANY and least and table.select(is_number.first()).item():
        print(
            f"warning: {file}: no answer is 0; if the answers are counted from 1, subtract 1 from all",
            file=sys.stderr,
        )
    return found
