"""Predict with one model on a sample of the benchmark's items, their options in every other circular order.

Images are clean, or under each corruption at one severity. Predictions are cached as those of infer are.
"""

import argparse
from pathlib import Path

from benchc.benchmarks.bench_c.schemas.orders import ORDERS
from benchc.benchmarks.bench_c.selection.option_orders import predict_orders, sampled
from benchc.models.items import refuse_open_questions
from benchc.models.offline import work_offline
from benchc.models.predictor import Predictor
from scripts.argument_types import positive_argument
from scripts.command import Parser, run
from scripts.inference_arguments import add_cache, add_images, add_items, add_model, check_images, items_of
from scripts.inference_job import run_inference

CLEAN_SEVERITY = 0


def main() -> None:
    arguments = parse_arguments()
    work_offline()
    subset = items_of(arguments)
    refuse_open_questions(subset)
    wanted = sampled(subset, arguments.sample)
    items = {id_: item for id_, item in subset.items() if id_ in wanted}
    run_inference(
        arguments,
        items,
        ORDERS,
        Predictor,
        predict_orders,
        severities={CLEAN_SEVERITY, arguments.severity},
        facts={"items": len(items)},
        as_given=False,
    )


def parse_arguments() -> argparse.Namespace:
    parser = Parser(__spec__.name, __doc__)
    add_model(parser)
    add_items(parser)
    add = parser.add_argument
    add(
        "--sample",
        type=positive_argument,
        required=True,
        help="number of items, taken in the order of a hash",
    )
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
