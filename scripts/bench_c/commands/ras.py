"""Compute RAS from a table of predictions, without a run."""

import sys
from pathlib import Path

import numpy as np
import polars as pl

from benchc.atomic import write_text
from benchc.benchmarks.bench_c.metrics.aggregate import cell_means, clean_means, overall_means
from benchc.benchmarks.bench_c.metrics.scoring import MEND, score
from benchc.errors import InputError
from benchc.labels import files_by_name
from benchc.letters import LETTERS
from benchc.pluralize import pluralize
from benchc.rendering.markdown import markdown
from benchc.rendering.numbers import number_text
from benchc.schemas.predictions import KEY
from benchc.schemas.printed import csv_text
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
    known = None if answers is None else _answers(answers, read_user_table(answers, ("id", "answer")))
    rows, cells = [], []
    first: tuple[Path, pl.DataFrame] | None = None
    for name, file in files_by_name(files).items():
        table = read_user_table(file, [*KEY, *(() if known is not None else ("answer",)), "logits"])
        scores = _scores(file, table, known, answers)
        first = first or (file, scores.select(KEY))
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


def _scores(
    file: Path, table: pl.DataFrame, known: pl.DataFrame | None, answers: Path | None
) -> pl.DataFrame:
    refuse(file, table, pl.col("id").fill_null("") == "", "id", "that of the item")
    if known is not None:
        unknown = ~pl.col("id").is_in(known["id"].implode())
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
    items = known
    if items is None:
        items = _answers(file, table)
    predictions = table.select("id", "corruption", severity, logits)
    _refuse_probabilities(file, predictions)
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


def _refuse_probabilities(file: Path, predictions: pl.DataFrame) -> None:
    """Raise InputError where no logit is below 0, and no row's sum is above 1, or each row's is about 100.

    Warns where many rows have no logit beyond 1 or -1.
    """
    logits = pl.col("logits").list
    total = logits.sum()
    # Of ten options that are rounded to two decimals, or to whole per cent, it may be 1.05 or 105.
    shares = (total <= 1.05).all() & (total > 0).any()
    per_cent = total.is_between(95, 105).all()
    if predictions.height and predictions.select((logits.min() >= 0).all() & (shares | per_cent)).item():
        raise InputError(
            f"{file}: no logit is below 0, and all rows have sums of at most 1, or of about 100, as "
            "probabilities or per cent have; give logits, or the logarithms of the probabilities; if these "
            "are logits, subtract 100 from each of them, which changes no RAS"
        )
    # Of an option that is absent, the logit may be -inf.
    values = predictions["logits"].explode().to_numpy()
    finite = values[np.isfinite(values)]
    # Mean log-probabilities of a text's tokens are small, too, and none is above 0.
    if predictions.height >= MANY and finite.min() >= -1 and 0 < finite.max() <= 1:
        print(
            f"warning: {file}: all logits are from -1 to 1, as cosines and sigmoids are; RAS needs logits, "
            "whose softmax is the probabilities of the options",
            file=sys.stderr,
        )


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
