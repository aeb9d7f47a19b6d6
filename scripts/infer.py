"""Ask one model about the items of the pool, or of a subset of it, clean and corrupted.

Every read is one logit per option. Reads that the store holds are looked up, the others are computed and
kept, so that a killed job resumes where it was and a changed one computes only what is new.
"""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.models.inference import infer, summary
from benchc.models.items import read_items, refuse_open_questions
from benchc.models.loading import load_model
from benchc.models.read_store import ReadStore
from benchc.models.reading import Reader
from benchc.schemas.parquet import write_table
from benchc.schemas.predictions import PREDICTIONS
from scripts.command import run
from scripts.reading_arguments import (
    add_images,
    add_items,
    add_model,
    add_store,
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
    with ReadStore(arguments.store, identity, arguments.writer) as store:
        reader = Reader(scorer, store)
        label = Path(arguments.location).name
        images = images_of(arguments)
        rows = infer(reader, arguments.items, items, images, label=label, ahead=bool(arguments.gpus))
    print(summary(arguments.location, len(rows), reader), file=sys.stderr)
    footer = {**identity, "reads": len(rows), "halved_units": reader.halved}
    frame = pl.DataFrame(rows, schema=pl.Schema(PREDICTIONS.columns))
    write_table(frame, arguments.output, PREDICTIONS, footer)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.infer",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model(parser)
    add_items(parser)
    add_images(parser)
    add_store(parser)
    parser.add_argument("--output", type=Path, required=True, help="predictions to write")
    arguments = parser.parse_args()
    check_images(parser, arguments)
    return arguments


if __name__ == "__main__":
    run(main)
