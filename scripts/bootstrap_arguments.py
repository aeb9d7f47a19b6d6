"""Arguments that the scripts of bootstrap tables share."""

import argparse
from pathlib import Path

from benchc.benchmarks.bench_c.metrics.cube import Cube, Floats, cube_of
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.errors import InputError
from benchc.schemas.parquet import read_table
from scripts.scores_arguments import add_scores, read_scores


def add_models(parser: argparse.ArgumentParser) -> None:
    """Add the targets' scores, labels and ids, and the selection with its weights."""
    add_scores(parser)
    add = parser.add_argument
    add(
        "--models",
        nargs="+",
        required=True,
        metavar="ID",
        help="ids of the targets, in the order of --scores",
    )
    add("--selected", type=Path, required=True, help="selection/selected.parquet, for the weights kappa")


def add_draws(parser: argparse.ArgumentParser, draws: int) -> None:
    """Add the number of bootstrap draws and their seed."""
    parser.add_argument("--draws", type=positive, default=draws, help="resamples of the items [%(default)s]")
    parser.add_argument("--seed", type=int, default=0, help="seed of the resamples [%(default)s]")


def positive(text: str) -> int:
    """Return a whole number >= 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not positive")
    return value


def read_models(arguments: argparse.Namespace) -> tuple[Cube, Floats, dict[str, str]]:
    """Return the reads of all targets, the kappa of each item, and the label of each target by its id."""
    if len(set(arguments.models)) != len(arguments.scores) or len(arguments.models) != len(arguments.scores):
        raise InputError("--models: give one id to each file of --scores, no id twice")
    labels = dict(zip(arguments.models, arguments.labels, strict=False))
    scores = read_scores(arguments)
    cube = cube_of({model: scores[label] for model, label in labels.items()})
    return cube, cube.kappa(read_table(arguments.selected, SELECTED).filter("kept")), labels
