"""Ask one model about the items of the pool or of the benchmark, clean and corrupted.

Every read is one logit per option. Reads that the store holds are looked up, the others are computed and
kept, so that a killed job resumes where it was and a changed one computes only what is new.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import polars as pl

from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.schemas.unselected import UNSELECTED
from benchc.models.question import Question
from benchc.models.read_store import ReadStore
from benchc.models.reading import Reader
from benchc.models.units import read_unit
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.predictions import PREDICTIONS
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


def main() -> None:
    arguments = parse_arguments()
    items = wanted_items(arguments.items, arguments.selected, arguments.unselected)
    scorer, identity = load_model(arguments)
    with ReadStore(arguments.store, identity, arguments.writer) as store:
        reader = Reader(scorer, store)
        rows: list[dict[str, Any]] = []
        for unit in units_to_read(arguments, items):
            rows += read_unit(reader, items[unit.item], unit)
    print(summary(arguments, len(rows), reader), file=sys.stderr)
    order = {id_: row for row, id_ in enumerate(items)}
    # Stable: an item's corruptions stay in the order of the batch.
    rows.sort(key=lambda row: order[row["id"]])
    footer = {**identity, "reads": len(rows), "halved_units": reader.halved}
    frame = pl.DataFrame(rows, schema=pl.Schema(PREDICTIONS.columns))
    write_table(frame, arguments.output, PREDICTIONS, footer)


def wanted_items(pool: Path, selected: Path | None, unselected: Path | None) -> dict[str, Question]:
    """Return the questions to ask by item id, in pool order."""
    items = questions(pool)
    if selected is not None:
        wanted = set(read_table(selected, SELECTED).filter("kept")["id"])
    elif unselected is not None:
        wanted = set(read_table(unselected, UNSELECTED)["id"])
    else:
        return items
    return {id_: question for id_, question in items.items() if id_ in wanted}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.infer",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model(parser)
    subset = parser.add_mutually_exclusive_group()
    subset.add_argument(
        "--selected", type=Path, help="selection/selected.parquet: ask only about the items it keeps"
    )
    subset.add_argument(
        "--unselected", type=Path, help="selection/unselected.parquet: ask only about the items in it"
    )
    add_images(parser)
    add_store(parser)
    parser.add_argument("--output", type=Path, required=True, help="predictions to write")
    arguments = parser.parse_args()
    check_images(parser, arguments)
    return arguments


if __name__ == "__main__":
    run(main)
