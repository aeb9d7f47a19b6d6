"""Ask one model about a sample of the benchmark's items with their options in every other circular order.

Clean, and under each corruption at one severity. Reads go through the store, as those of infer do.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import polars as pl

from benchc.benchmarks.bench_c.schemas.orders import ORDERS
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.selection.option_orders import read_orders, sampled
from benchc.models.read_store import ReadStore
from benchc.models.reading import Reader
from benchc.schemas.parquet import read_table, write_table
from scripts.command import run
from scripts.reading_arguments import (
    add_images,
    add_model,
    add_store,
    check_images,
    load_model,
    questions,
    summary,
    units_to_read,
)

CLEAN_SEVERITY = 0


def main() -> None:
    arguments = parse_arguments()
    wanted = sampled(read_table(arguments.selected, SELECTED).filter("kept")["id"], arguments.sample)
    items = {id_: question for id_, question in questions(arguments.items).items() if id_ in wanted}
    scorer, identity = load_model(arguments)
    with ReadStore(arguments.store, identity, arguments.writer) as store:
        reader = Reader(scorer, store)
        rows: list[dict[str, Any]] = []
        for unit in units_to_read(arguments, items, {CLEAN_SEVERITY, arguments.severity}):
            rows += read_orders(reader, items[unit.item], unit)
    print(summary(arguments, len(rows), reader), file=sys.stderr)
    place = {id_: row for row, id_ in enumerate(items)}
    # Stable: an item's corruptions stay in the order given, and the orders within them.
    rows.sort(key=lambda row: place[row["id"]])
    footer = {**identity, "items": len(items), "reads": len(rows), "halved_units": reader.halved}
    write_table(pl.DataFrame(rows, schema=pl.Schema(ORDERS.columns)), arguments.output, ORDERS, footer)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.bench_c.infer_orders",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model(parser)
    add = parser.add_argument
    add("--selected", type=Path, required=True, help="selection/selected.parquet: ask about items it keeps")
    add("--sample", type=positive, required=True, help="on how many of them, in a hashed order")
    add("--severity", type=positive, required=True, help="the severity of every corruption; clean is 0")
    add_images(parser)
    add_store(parser)
    add("--output", type=Path, required=True, help="orders/{model}.parquet to write")
    arguments = parser.parse_args()
    check_images(parser, arguments)
    return arguments


def positive(text: str) -> int:
    """Return a whole number >= 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 1")
    return int(text)


if __name__ == "__main__":
    run(main)
