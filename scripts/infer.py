"""Predict with one model on the items of the pool, or of a subset of it, clean and corrupted.

A prediction is one logit per option. Predictions are cached: a killed job resumes where it stopped, and a
changed one computes only what is new.
"""

import argparse
from pathlib import Path

from benchc.models.items import read_items
from benchc.models.offline import work_offline
from benchc.schemas.predictions import PREDICTIONS
from scripts.command import Parser, run
from scripts.inference_arguments import add_cache, add_images, add_items, add_model, check_images


def main() -> None:
    arguments = parse_arguments()
    work_offline()
    # After the arguments: --help and their errors need not wait for torch.
    from scripts.inference_job import run_inference

    run_inference(arguments, read_items(arguments.items, arguments.subset), PREDICTIONS)


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
