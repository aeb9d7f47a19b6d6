"""Arguments of the scripts that compare the scores of several targets."""

import argparse
from pathlib import Path

import polars as pl

from benchc.errors import InputError
from benchc.progress import track
from benchc.tables.parquet import read_table
from benchc.tables.scores import SCORES


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
    """Return each target's table of scores by its label, in the order given."""
    if len(arguments.labels) != len(arguments.scores) or len(set(arguments.labels)) != len(arguments.labels):
        raise InputError("--labels: give one name to each file of --scores, no name twice")
    paths = track(arguments.scores, label="scores", unit="files")
    return {label: read_table(path, SCORES) for label, path in zip(arguments.labels, paths, strict=True)}
