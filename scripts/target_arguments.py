"""Arguments of the scripts that draw single reads of one target."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchc.progress import track
from benchc.schemas.predictions_of_model import read_predictions


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add the target's scores, its predictions, the pool, and the target's name."""
    parser.add_argument(
        "--scores", type=Path, required=True, metavar="FILE", help="table of the target's scores"
    )
    parser.add_argument(
        "--predictions",
        type=Path,
        nargs="+",
        required=True,
        metavar="FILE",
        help="tables of the target's predictions on the benchmark: all batches, clean among them",
    )
    parser.add_argument("--pool", type=Path, required=True, metavar="FILE", help="table of the pool")
    parser.add_argument("--label", required=True, metavar="NAME", help="the target's name as drawn")


def read_reads(paths: Sequence[Path]) -> pl.DataFrame:
    """Return id, corruption, severity and logits of all batches of one target."""
    batches = track(paths, label="predictions", unit="files")
    return read_predictions(batches, ["id", "corruption", "severity", "logits"])
