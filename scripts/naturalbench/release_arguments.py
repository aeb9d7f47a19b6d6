"""Arguments that name what a release is made of, and what they name."""

import argparse
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchc.benchmarks.naturalbench.curation.groups import Group, groups_of
from benchc.benchmarks.naturalbench.curation.samples import Sample, read_samples
from benchc.benchmarks.naturalbench.schemas.kept import KEPT
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS
from benchc.schemas.parquet import read_table


class Release(NamedTuple):
    """The pairs that were used, the two samples of each, and the groups."""

    pairs: pl.DataFrame
    samples: dict[str, tuple[Sample, Sample]]
    groups: list[Group]


def add_release(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--pairs", type=Path, required=True, help="curate/kept_pairs.parquet or curate/pairs.parquet")
    add("--captions", type=Path, required=True, help="curate/captions.parquet")
    add("--questions", type=Path, nargs="+", required=True, help="curate/questions/{round}.parquet, in order")
    add("--kept", type=Path, nargs="+", required=True, help="curate/kept/{round}.parquet, in the same order")
    add(
        "--dataset",
        nargs=2,
        action="append",
        required=True,
        metavar=("ID", "SUBSET"),
        help="a data set of captions and the subset of its groups",
    )


def parse_release(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse the arguments; an error where questions and kept ones are not of the same rounds."""
    arguments = parser.parse_args()
    if len(arguments.questions) != len(arguments.kept):
        parser.error("--questions and --kept are not of the same rounds")
    return arguments


def read_release(arguments: argparse.Namespace) -> Release:
    """Return what the arguments name. Raises InputError as `read_table` and `read_samples`."""
    pairs = read_table(arguments.pairs, PAIRS)
    rounds = [
        (read_table(questions, QUESTIONS), read_table(kept, KEPT))
        for questions, kept in zip(arguments.questions, arguments.kept, strict=True)
    ]
    return Release(pairs, read_samples(arguments.captions, pairs), groups_of(pairs, rounds))
