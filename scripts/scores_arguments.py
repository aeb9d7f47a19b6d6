"""Arguments of the scripts that compare the scores of several targets."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from benchc.benchmarks.bench_c.metrics.common_items import common_items
from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.errors import InputError
from benchc.progress import track
from benchc.schemas.parquet import read_footer, read_table

MISSING = "missing_items"  # of a footer, where reads are missing


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
    missing = {label: _number(read_footer(path), MISSING) for label, path in named.items()}
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


def left_out(paths: Sequence[Path], items: int) -> int:
    """Return how many selected items are left out where targets are compared on ``items`` of them.

    ``paths``: their tables of scores. 0 where none of these says that reads are missing.
    """
    footers = [read_footer(path) for path in paths]
    selected = [
        _number(footer, "items") + _number(footer, MISSING) for footer in footers if MISSING in footer
    ]
    return max(selected) - items if selected else 0


def left_out_note(paths: Sequence[Path], items: int) -> str:
    """Return the sentence that ends the caption of what compares targets, with a space in front.

    Arguments as for :func:`left_out`; empty where that is 0.
    """
    missing = left_out(paths, items)
    if not missing:
        return ""
    return f" On {items:,} of {items + missing:,} items: those whose reads all targets have."


def _number(footer: Mapping[str, object], key: str) -> int:
    return int(str(footer.get(key, 0)))
