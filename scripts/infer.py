"""Predict with one model on the items of the pool, or of a subset of it, clean and corrupted.

A prediction is one logit per option. Predictions are cached: a killed job resumes where it stopped, and a
changed one computes only what is new.
"""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.models.inference import predict_units
from benchc.models.items import refuse_open_questions
from benchc.models.offline import work_offline
from benchc.models.predictor import Predictor
from benchc.models.protocol import NoTextOnlyError
from benchc.schemas.parquet import write_table
from benchc.schemas.predictions import PREDICTIONS
from scripts.command import Parser, run
from scripts.inference_arguments import add_cache, add_images, add_items, add_model, check_images, items_of
from scripts.inference_job import run_inference


def main() -> None:
    arguments = parse_arguments()
    work_offline()
    items = items_of(arguments)
    refuse_open_questions(items)
    try:
        run_inference(arguments, items, PREDICTIONS, Predictor, predict_units)
    except NoTextOnlyError as error:
        # Whatever needs these predictions says why there are none.
        write_none(arguments, str(error))


def write_none(arguments: argparse.Namespace, reason: str) -> None:
    """Write predictions without rows, whose footer says why."""
    print(f"{arguments.label}: no predictions: {reason}", file=sys.stderr)
    footer = {"label": arguments.label, "unavailable": reason}
    empty = pl.DataFrame(schema=pl.Schema(PREDICTIONS.columns))
    write_table(empty, arguments.output, PREDICTIONS, footer)


def parse_arguments() -> argparse.Namespace:
    parser = Parser(__spec__.name, __doc__)
    add_model(parser)
    add_items(parser)
    add_images(parser)
    add_cache(parser)
    parser.add_argument("--output", type=Path, required=True, help="predictions.parquet to write")
    arguments = parser.parse_args()
    check_images(parser, arguments)
    return arguments


if __name__ == "__main__":
    run(main)
