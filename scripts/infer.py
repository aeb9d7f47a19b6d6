"""Ask one model about the items of the pool, or of a subset of it, clean and corrupted.

Every prediction is one logit per option. Cached predictions are looked up, the others are computed and
cached, so that a killed job resumes where it was and a changed one computes only what is new.
"""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.models.inference import infer, summary
from benchc.models.items import read_items, refuse_open_questions
from benchc.models.loading import load_model
from benchc.models.prediction_cache import PredictionCache
from benchc.models.predictor import Predictor
from benchc.schemas.parquet import write_table
from benchc.schemas.predictions import PREDICTIONS
from scripts.command import Parser, run
from scripts.inference_arguments import (
    add_cache,
    add_images,
    add_items,
    add_model,
    check_images,
    images_of,
    source_of,
)


def main() -> None:
    arguments = parse_arguments()
    items = read_items(arguments.items, arguments.subset)
    refuse_open_questions(items)
    scorer, identity = load_model(
        source_of(arguments), arguments.family, arguments.scoring, arguments.threads
    )
    with PredictionCache(arguments.cache, identity, arguments.shard) as cache:
        predictor = Predictor(scorer, cache)
        label = Path(arguments.location).name
        images = images_of(arguments)
        rows = infer(predictor, arguments.items, items, images, label=label, ahead=bool(arguments.gpus))
    print(summary(arguments.location, len(rows), predictor), file=sys.stderr)
    footer = {**identity, "predictions": len(rows), "oom_splits": predictor.oom_splits}
    frame = pl.DataFrame(rows, schema=pl.Schema(PREDICTIONS.columns))
    write_table(frame, arguments.output, PREDICTIONS, footer)


def parse_arguments() -> argparse.Namespace:
    parser = Parser(__spec__.name, __doc__)
    add_model(parser)
    add_items(parser)
    add_images(parser)
    add_cache(parser)
    parser.add_argument("--output", type=Path, required=True, help="predictions to write")
    arguments = parser.parse_args()
    check_images(parser, arguments)
    return arguments


if __name__ == "__main__":
    run(main)
