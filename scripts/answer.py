"""Let one model answer the items of the pool, or of a subset of it, clean and corrupted.

Answers are generated greedily; a VQA head with a closed list gives the most probable of the list. They are
cached: a killed job resumes where it stopped, and a changed one computes only what is new.
"""

import argparse
from pathlib import Path

from benchc.models.inference import answer_units
from benchc.models.offline import work_offline
from benchc.models.predictor import Answerer
from benchc.models.registry import CLASSIFY, GENERATE
from benchc.schemas.answers import ANSWERS
from scripts.command import Parser, run
from scripts.inference_arguments import (
    add_cache,
    add_images,
    add_items,
    add_model,
    check_images,
    items_of,
    on_server,
)
from scripts.inference_job import run_inference


def main() -> None:
    arguments = parse_arguments()
    work_offline()
    items = items_of(arguments)
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
    if arguments.scoring == GENERATE and arguments.max_new_tokens is None:
        parser.error("--scoring generate needs --max-new-tokens")
    if arguments.scoring == CLASSIFY and on_server(arguments):
        parser.error("--scoring classify is of a model in the job; leave out the server")
    return arguments


if __name__ == "__main__":
    run(main)
