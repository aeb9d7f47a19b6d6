"""Score one target: entropy, calibration error and RAS of every corrupted read beside its clean read."""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.metrics.scoring import score
from benchc.progress import track
from benchc.tables.parquet import read_table, write_table
from benchc.tables.pool import POOL
from benchc.tables.predictions_of_model import read_predictions
from benchc.tables.scores import SCORES
from benchc.tables.selected import SELECTED
from scripts.command import run


def main() -> None:
    arguments = parse_arguments()
    folders = sorted({path.parent.name for path in arguments.predictions})
    if len(folders) != 1:
        raise SystemExit(f"--predictions: the files are of several models: {', '.join(folders)}")
    batches = track(arguments.predictions, label="predictions", unit="files")
    reads = read_predictions(batches, ["id", "corruption", "severity", "logits"])
    kept = read_table(arguments.selected, SELECTED).filter("kept").select("id")
    pool = read_table(arguments.pool, POOL, ["id", "options", "answer"])
    absent = kept.join(pool, on="id", how="anti")
    if absent.height:
        raise SystemExit(
            f"{arguments.selected}: {absent.height} selected items are not in {arguments.pool}, first "
            f"{absent['id'][0]}; make the selection again"
        )
    items = pool.join(kept, on="id", how="semi", maintain_order="left").select(
        "id", "answer", pl.col("options").list.len().cast(pl.Int64)
    )
    table = score(reads, items)
    write_table(table, arguments.output, SCORES, {"items": items.height})
    print(f"{folders[0]}: {table.height:,} corrupted reads of {items.height:,} items scored", file=sys.stderr)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.score", description=__doc__)
    add = parser.add_argument
    add(
        "--predictions",
        type=Path,
        nargs="+",
        required=True,
        help="predictions/selected/{model}/{batch}.parquet: all batches of one target, clean among them",
    )
    add("--pool", type=Path, required=True, help="pool/items.parquet")
    add("--selected", type=Path, required=True, help="selection/selected.parquet")
    add("--output", type=Path, required=True, help="scores/{model}.parquet to write")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
