"""Keep the pairs, or the questions of a round, on which all annotators give the expected answers.

Stops with a list of all annotators whose review is missing, incomplete or wrong. A round without anything to
review needs no reviews.
"""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.benchmarks.naturalbench.curation.keep import kept_pairs, kept_questions
from benchc.benchmarks.naturalbench.curation.review_csv import read_reviews
from benchc.benchmarks.naturalbench.curation.review_files import ReviewError
from benchc.benchmarks.naturalbench.curation.review_rows import PAIRS_ROUND
from benchc.benchmarks.naturalbench.schemas.kept import KEPT
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS
from benchc.benchmarks.naturalbench.schemas.reviewed import REVIEWED
from benchc.schemas.parquet import read_table, write_table
from scripts.command import Parser, printable, run
from scripts.naturalbench.review_arguments import add_round, rows_of


def main() -> None:
    arguments = parse_arguments()
    rows = rows_of(arguments)
    folder = arguments.reviews / arguments.round
    forms = arguments.forms / arguments.round
    try:
        reviewed = read_reviews(rows, arguments.annotators, folder, forms, arguments.round)
    except ReviewError as error:
        # To wait for people is no error.
        raise SystemExit("\n".join(printable(line) for line in error.args)) from error
    if arguments.round == PAIRS_ROUND:
        pairs = read_table(arguments.pairs, PAIRS)
        kept = kept_pairs(pairs, reviewed)
        write_table(kept, arguments.output, PAIRS)
        count, whole = kept.height, f"{pairs.height:,} pairs"
    else:
        questions = read_table(arguments.questions, QUESTIONS)
        kept = kept_questions(questions, reviewed)
        write_table(kept, arguments.output, KEPT)
        count, whole = kept.filter(pl.col("kept")).height, f"{kept.height:,} questions"
    footer = {"round": arguments.round, "annotators": arguments.annotators}
    write_table(reviewed, arguments.reviewed, REVIEWED, footer)
    print(f"round {arguments.round}: {count:,} of {whole} kept", file=sys.stderr)


def parse_arguments() -> argparse.Namespace:
    parser = Parser(__spec__.name, __doc__)
    add_round(parser)
    add = parser.add_argument
    add("--annotators", nargs="+", required=True, metavar="ID", help="all who reviewed")
    add("--reviews", type=Path, required=True, help="folder with {round}/{annotator}.csv")
    add("--forms", type=Path, required=True, help="folder with the forms, for messages")
    add("--reviewed", type=Path, required=True, help="curate/reviewed/{round}.parquet to write")
    add("--output", type=Path, required=True, help="curate/kept/{round}.parquet, or kept_pairs.parquet")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
