"""Ask one model about a sample of the benchmark's items with their options in every other circular order.

Clean, and under each corruption at one severity. Predictions are cached, as those of infer are.
"""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.benchmarks.bench_c.schemas.orders import ORDERS
from benchc.benchmarks.bench_c.selection.option_orders import predict_orders, sampled
from benchc.models.inference import infer, summary
from benchc.models.items import read_items, refuse_open_questions
from benchc.models.loading import load_model
from benchc.models.prediction_cache import PredictionCache
from benchc.models.predictor import Predictor
from benchc.schemas.parquet import write_table
from scripts.argument_types import positive_argument
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

CLEAN_SEVERITY = 0


def main() -> None:
    arguments = parse_arguments()
    subset = read_items(arguments.items, arguments.subset)
    wanted = sampled(subset, arguments.sample)
    items = {id_: item for id_, item in subset.items() if id_ in wanted}
    refuse_open_questions(items)
    scorer, identity = load_model(
        source_of(arguments), arguments.family, arguments.scoring, arguments.threads
    )
    with PredictionCache(arguments.cache, identity, arguments.shard) as cache:
        predictor = Predictor(scorer, cache)
        rows = infer(
            predictor,
            arguments.items,
            items,
            images_of(arguments),
            label=Path(arguments.location).name,
            severities={CLEAN_SEVERITY, arguments.severity},
            ahead=bool(arguments.gpus),
            predict=predict_orders,
        )
    print(summary(arguments.location, len(rows), predictor), file=sys.stderr)
    footer = {**identity, "items": len(items), "predictions": len(rows), "oom_splits": predictor.oom_splits}
    write_table(pl.DataFrame(rows, schema=pl.Schema(ORDERS.columns)), arguments.output, ORDERS, footer)


def parse_arguments() -> argparse.Namespace:
    parser = Parser(__spec__.name, __doc__)
    add_model(parser)
    add_items(parser)
    add = parser.add_argument
    add("--sample", type=positive_argument, required=True, help="on how many of them, in a hashed order")
    add(
        "--severity",
        type=positive_argument,
        required=True,
        help="the severity of every corruption; clean is 0",
    )
    add_images(parser)
    add_cache(parser)
    add("--output", type=Path, required=True, help="orders/{model}.parquet to write")
    arguments = parser.parse_args()
    check_images(parser, arguments)
    return arguments


if __name__ == "__main__":
    run(main)
