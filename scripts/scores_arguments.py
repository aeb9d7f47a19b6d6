"""Arguments of the scripts that compare the scores of several targets."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from benchc.benchmarks.bench_c.metrics.common_items import common_items
from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.benchmarks.bench_c.tables.left_out import MISSING, left_out, number
from benchc.benchmarks.bench_c.tables.left_out import left_out_note as left_out_note
from benchc.errors import InputError
from benchc.progress import track
from benchc.schemas.parquet import read_footer, read_table


def add_scores(parser: argparse.ArgumentParser) -> None:
    """Add the targets' tables of scores and their names."""
    parser.add_argument(
        "--scores", type=Path, nargs="+", required=True, metavar="FILE", help="tables of scores, one a target"
    )
    parser.add_argument(
        "--labels",
        nargs="+",
        required=True,
        metavar="NAME",
        help="the targets' names as printed, in the order of --scores",
    )


def add_forms(parser: argparse.ArgumentParser) -> None:
    """Add the three files that every table is written to."""
    parser.add_argument(
        "--output-csv", type=Path, required=True, metavar="FILE", help="table with all digits, to write"
    )
    parser.add_argument(
        "--output-md", type=Path, required=True, metavar="FILE", help="Markdown table, to write"
    )
    parser.add_argument(
        "--output-tex", type=Path, required=True, metavar="FILE", help="LaTeX table, to write"
    )


def add_published(parser: argparse.ArgumentParser) -> None:
    """Add the file of the values beside the paper's."""
    parser.add_argument(
        "--output-published",
        type=Path,
        required=True,
        metavar="FILE",
        help="csv of the values beside those that the paper prints, to write; without rows where no model "
        "has the name of one of the paper's",
    )


def read_scores(arguments: argparse.Namespace) -> dict[str, pl.DataFrame]:
    """Return each target's table of scores by its label, in the order given.

    Where a table leaves out items since reads of them are missing, all tables are of the items that every
    target has; :func:`left_out` counts the others.
    """
    if len(arguments.labels) != len(arguments.scores) or len(set(arguments.labels)) != len(arguments.labels):
        raise InputError("--labels: give one name to each file of --scores, no name twice")
    named = dict(zip(arguments.labels, arguments.scores, strict=True))
    missing = {label: number(read_footer(path), MISSING) for label, path in named.items()}
    paths = track(named.items(), label="scores", unit="files")
    scores = common_items({label: read_table(path, SCORES) for label, path in paths}, missing)
    if any(missing.values()):
        most = max(missing, key=lambda label: missing[label])
        items = items_of(scores)
        print(
            f"{len(scores)} targets have all reads of {items:,} items, {left_out(arguments.scores, items):,} "
            f"are left out; {most} lacks most, {missing[most]:,}",
            file=sys.stderr,
        )
    return scores


def items_of(scores: Mapping[str, pl.DataFrame]) -> int:
    """Return how many items the targets of :func:`read_scores` are compared on."""
    return next(iter(scores.values()))["id"].n_unique()
