"""Arguments that say what is reviewed in a round, and the rows of its form."""

import argparse
from pathlib import Path

from benchc.benchmarks.naturalbench.curation.review_rows import (
    PAIRS_ROUND,
    Row,
    pair_rows,
    question_rows,
)
from benchc.benchmarks.naturalbench.curation.samples import read_samples
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS
from benchc.errors import InputError
from benchc.schemas.parquet import read_table


def add_round(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--round", required=True, help=f"{PAIRS_ROUND}, 0, 1, 2 or 3")
    add("--pairs", type=Path, required=True, help="curate/pairs.parquet or curate/kept_pairs.parquet")
    add("--captions", type=Path, required=True, help="curate/captions.parquet")
    add("--questions", type=Path, nargs="?", help="curate/questions/{round}.parquet; not of the round pairs")


def rows_of(arguments: argparse.Namespace) -> list[Row]:
    """Return the rows that are reviewed; raises InputError where the files do not belong to the round."""
    samples = read_samples(arguments.captions, read_table(arguments.pairs, PAIRS))
    if arguments.round == PAIRS_ROUND:
        return pair_rows(samples)
    if arguments.questions is None or not arguments.round.isdecimal():
        raise InputError(f"--round {arguments.round}: give {PAIRS_ROUND}, or a number with --questions")
    return question_rows(read_table(arguments.questions, QUESTIONS), samples, int(arguments.round))
