"""Grade the free answers of a model by reference answers: exactly, by the VQA evaluator's rules, softly."""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.errors import InputError
from benchc.judges.reference_grades import graded, read_references
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.schemas.answers import ANSWERS
from benchc.schemas.answers_csv import read_answers
from benchc.schemas.grades import GRADES
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.predictions import KEY, check_predictions
from scripts.argument_types import positive_argument
from scripts.command import Parser, run

COLUMNS = ["id", "corruption", "severity", "reply", "finish"]


def main() -> None:
    arguments = parse_arguments()
    references = read_references(arguments.references, arguments.items)
    if arguments.answers is not None:
        facts = check_predictions(arguments.answers, arguments.items)
        label = str(read_footer(arguments.answers[0]).get("label", arguments.answers[0].parent.name))
        files = track(arguments.answers, label="answers", unit="files")
        table = pl.concat(graded(read_table(path, ANSWERS, COLUMNS), references) for path in files)
        labels = {str(read_footer(path).get("label", path.parent.name)) for path in arguments.answers}
        if len(labels) > 1:
            raise InputError(f"--answers: files of {' and '.join(sorted(labels))}; give those of one model")
        if (doubled := table.filter(~pl.struct(KEY).is_first_distinct())).height:
            id_, corruption, severity = doubled.select(KEY).row(0)
            raise InputError(
                f"--answers: two answers to {id_} under {corruption} at severity {severity}; give one"
            )
    else:
        facts = {"pool": pool_digest(arguments.items, QUESTION_COLUMNS)}
        label = arguments.label or arguments.answers_csv.stem
        answers = read_answers(
            arguments.answers_csv, [*references], arguments.corruptions, arguments.severities
        )
        table = graded(answers, references)
    right, empty = int(table["normalised"].sum()), int(table["empty"].sum())
    print(f"{label}: {pluralize(table.height, 'answer')}, {right:,} right, {empty:,} empty", file=sys.stderr)
    write_table(table, arguments.output, GRADES, {**facts, "label": label, "answers": table.height})


def parse_arguments() -> argparse.Namespace:
    parser = Parser(__spec__.name, __doc__)
    add = parser.add_argument
    add("--items", type=Path, required=True, help="pool/items.parquet")
    add("--references", type=Path, required=True, help="pool/references.parquet")
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--answers", type=Path, nargs="+", help="answers/{subset}/{model}/{part}.parquet")
    given.add_argument(
        "--answers-csv", type=Path, help="answers of another program: id, corruption, severity, answer"
    )
    add("--label", help="id of the model of --answers-csv; default: the file's name")
    add("--corruptions", nargs="+", default=[], help="of --answers-csv")
    add("--severities", type=positive_argument, nargs="+", default=[], help="of --answers-csv")
    add("--output", type=Path, required=True, help="grades.parquet to write")
    arguments = parser.parse_args()
    if arguments.answers_csv is not None and not (arguments.corruptions and arguments.severities):
        parser.error("--answers-csv needs --corruptions and --severities")
    return arguments


if __name__ == "__main__":
    run(main)
