"""Measure what another order of the options changes in the targets' answers, as csv, md, tex."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchc.atomic import write_text
from benchc.benchmarks.bench_c.metrics.option_order import (
    DRAWS,
    KEY,
    all_orders,
    measure_reads,
    missing_reads,
    option_order,
)
from benchc.benchmarks.bench_c.schemas.orders import ORDERS
from benchc.benchmarks.bench_c.tables.option_order import option_order_latex, option_order_markdown
from benchc.errors import InputError
from benchc.progress import track
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions_of_model import MAY_DIFFER, read_predictions
from scripts.command import run
from scripts.scores_arguments import add_forms


def main() -> None:
    arguments = parse_arguments()
    pool = read_table(arguments.pool, POOL, ["id", "answer", "options"])
    items = pool.select("id", "answer", pl.col("options").list.len().cast(pl.Int64))
    given = predictions_of(arguments.predictions, arguments.models)
    orders = {path.stem: path for path in arguments.orders}
    if len(arguments.labels) != len(set(arguments.labels)) or not (
        len(arguments.labels) == len(arguments.models) == len(arguments.orders)
    ):
        raise InputError("--models, --labels, --orders: give one of each to each target, no label twice")
    if orders.keys() != set(arguments.models):
        raise InputError(
            f"--orders: the files are of {', '.join(sorted(orders))}; give one {{model}}.parquet to each of "
            f"--models {' '.join(arguments.models)}"
        )
    labels = dict(zip(arguments.models, arguments.labels, strict=True))
    reads, scorings, asked_items = {}, {}, {}
    for model, label in track(labels.items(), label="option orders", unit="targets"):
        check_footers(given[model], orders[model])
        asked = read_predictions(given[model], [*KEY, "logits"])
        reads[label] = all_orders(asked, read_table(orders[model], ORDERS))
        footer = read_footer(orders[model])
        scorings[label] = str(footer.get("scoring", "unknown"))
        asked_items[label] = int(str(footer.get("items", 0)))
    left_out = 0
    if arguments.allow_missing:
        reads, left_out = complete_items(reads, items, max(asked_items.values()))
    measures = {}
    for label, part in reads.items():
        try:
            measures[label] = measure_reads(part, items)
        except InputError as error:
            raise InputError(f"{label}: {error}") from error
    table = option_order(measures, scorings, arguments.draws, arguments.seed)
    count = int(table["items"][0])
    note = f" On {count:,} of {count + left_out:,} items: those whose reads all have." if left_out else ""
    write_text(arguments.output_csv, table.write_csv())
    write_text(arguments.output_md, option_order_markdown(table, arguments.draws, note))
    write_text(arguments.output_tex, option_order_latex(table, arguments.draws, note))
    total = sum(part.height for part in reads.values())
    print(f"{len(labels)} targets, {total:,} reads of {count:,} items in all orders", file=sys.stderr)


def predictions_of(paths: Sequence[Path], models: Sequence[str]) -> dict[str, list[Path]]:
    """Return the files of each model, which are in a folder of its name."""
    found: dict[str, list[Path]] = {model: [] for model in models}
    for path in paths:
        found.setdefault(path.parent.name, []).append(path)
    wrong = [model for model, files in found.items() if (model in models) != bool(files)]
    wrong += [model for model in found if model not in models]
    if wrong:
        raise InputError(
            f"--predictions: the files do not go with --models, see {wrong[0]}; give all batches of each "
            "model, predictions/selected/{model}/{batch}.parquet"
        )
    return found


def check_footers(given: Sequence[Path], orders: Path) -> None:
    """Refuse reads in the given order and in others that were not made by the same model."""
    own = {"items", *MAY_DIFFER}
    first, second = (
        {key: value for key, value in read_footer(path).items() if key not in own}
        for path in (given[0], orders)
    )
    for key in sorted(first.keys() | second.keys()):
        if first.get(key) != second.get(key):
            raise InputError(
                f"{orders}: its {key} is {second.get(key)}, that of {given[0]} is {first.get(key)}; delete "
                "the older of the two and make it again"
            )


def complete_items(
    reads: dict[str, pl.DataFrame], items: pl.DataFrame, asked: int
) -> tuple[dict[str, pl.DataFrame], int]:
    """Return the reads of the items that every target has all reads of, and how many others there are.

    ``asked``: about how many items the targets were asked.
    """
    lacking: set[str] = set()
    every = set().union(*(part["id"] for part in reads.values()))
    asked = max(asked, len(every))
    for label, part in reads.items():
        lacks = set(missing_reads(part, items)["id"]) | (every - set(part["id"]))
        count = len(lacks) + max(0, asked - len(every))
        if count:
            print(f"{label}: {count:,} of {asked:,} items lack a read, left out", file=sys.stderr)
        lacking |= lacks
    if lacking == every:
        raise InputError(
            f"none of the {asked:,} items asked about in other orders has all reads of {', '.join(reads)}: "
            "make predictions/selected and orders/ again"
        )
    kept = {label: part.filter(~pl.col("id").is_in(list(lacking))) for label, part in reads.items()}
    return kept, asked - len(every - lacking)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.option_order", description=__doc__)
    add = parser.add_argument
    add(
        "--predictions",
        type=Path,
        nargs="+",
        required=True,
        metavar="FILE",
        help="predictions/selected/{model}/{batch}.parquet of all targets; the folder is the target's id",
    )
    add(
        "--orders",
        type=Path,
        nargs="+",
        required=True,
        metavar="FILE",
        help="orders/{model}.parquet of all targets",
    )
    add("--models", nargs="+", required=True, metavar="ID", help="ids of the targets, in the order of rows")
    add("--labels", nargs="+", required=True, metavar="NAME", help="their names as printed")
    add("--pool", type=Path, required=True, metavar="FILE", help="pool/items.parquet")
    add("--draws", type=int, default=DRAWS, help="resamples of the items [%(default)s]")
    add("--seed", type=int, default=0, help="seed of the resamples [%(default)s]")
    add(
        "--allow-missing",
        action="store_true",
        help="leave out the items of which a target lacks a read, instead of refusing",
    )
    add_forms(parser)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
