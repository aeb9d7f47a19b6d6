"""Let one model answer the items of the pool, or of a subset of it, in its own words, clean and corrupted.

Answers are generated greedily. They are cached: a killed job resumes where it stopped, and a changed one
generates only what is new.
"""

import argparse
from pathlib import Path

from benchc.models.inference import answer_units
from benchc.models.items import read_items
from benchc.models.offline import work_offline
from benchc.models.predictor import Answerer
from benchc.schemas.answers import ANSWERS
from scripts.command import Parser, run
from scripts.inference_arguments import add_cache, add_images, add_items, add_model, check_images
from scripts.inference_job import run_inference


def main() -> None:
    arguments = parse_arguments()
    work_offline()
    items = read_items(arguments.items, arguments.subset)
    run_inference(arguments, items, ANSWERS, Answerer, answer_units)


def parse_arguments() -> argparse.Namespace:
    parser = Parser(__spec__.name, __doc__)
    add_model(parser, scores_options=False)
    add_items(parser)
    add_images(parser)
    add_cache(parser)
    parser.add_argument("--output", type=Path, required=True, help="answers.parquet to write")
    arguments = parser.parse_args()
    check_images(parser, arguments)
    return arguments


if __name__ == "__main__":
    run(main)
