"""Score one target: entropy, calibration error and RAS of each corrupted prediction against the clean one."""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.benchmarks.bench_c.metrics.scoring import Grid, complete, score
from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.schemas.logits import first_names
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import check_predictions
from benchc.schemas.predictions_of_model import read_predictions
from benchc.schemas.subset import SUBSET
from scripts.command import Parser, run


def main() -> None:
    arguments = parse_arguments()
    folders = sorted({path.parent.name for path in arguments.predictions})
    if len(folders) != 1:
        raise InputError(
            f"--predictions: the files are of several models: {', '.join(folders)}; give those of one"
        )
    facts = check_predictions(arguments.predictions, arguments.pool)
    files = track(arguments.predictions, label="predictions", unit="files")
    predictions = read_predictions(files, ["id", "corruption", "severity", "logits"])
    chosen = read_table(arguments.subset, SUBSET)
    pool = read_table(arguments.pool, POOL, ["id", "options", "answer"])
    absent = chosen.join(pool, on="id", how="anti")
    if absent.height:
        raise InputError(
            f"{arguments.subset}: {pluralize(absent.height, 'item')} not in {arguments.pool}, first "
            f"{absent['id'][0]}; rerun the selection"
        )
    items = pool.join(chosen, on="id", how="semi", maintain_order="left").select(
        "id", "answer", pl.col("options").list.len().cast(pl.Int64)
    )
    grid = Grid(arguments.corruptions, arguments.severities)
    footer: dict[str, object] = {"label": folders[0], **facts}
    try:
        if arguments.allow_missing:
            selected = items.height
            predictions, items, missing = complete(predictions, items, grid)
            if missing.height:
                excluded = selected - items.height
                footer |= {"missing_items": excluded, "missing_predictions": missing.height}
                print(
                    f"{folders[0]}: {excluded:,} of {selected:,} items excluded, "
                    f"{pluralize(missing.height, 'prediction')} missing: {first_names(missing)}",
                    file=sys.stderr,
                )
        table = score(predictions, items, grid)
    except InputError as error:
        raise InputError(
            f"{folders[0]}: {error}; delete {arguments.predictions[0].parent} and run snakemake again"
        ) from error
    write_table(table, arguments.output, SCORES, {"items": items.height, **footer})
    print(
        f"{folders[0]}: {table.height:,} corrupted predictions of {items.height:,} items scored",
        file=sys.stderr,
    )


def parse_arguments() -> argparse.Namespace:
    parser = Parser(__spec__.name, __doc__)
    add = parser.add_argument
    add(
        "--predictions",
        type=Path,
        nargs="+",
        required=True,
        help="predictions/{subset}/{model}/{part}.parquet: all files of one target, clean among them",
    )
    add("--pool", type=Path, required=True, help="pool/items.parquet")
    add("--corruptions", nargs="+", required=True, help="corruptions under which every item is required")
    add("--severities", type=int, nargs="+", required=True, help="severities of each corruption")
    add("--subset", type=Path, required=True, help="subsets/{subset}.parquet: the items to score")
    add(
        "--allow-missing",
        action="store_true",
        help="leave out items with missing predictions instead of failing",
    )
    add("--output", type=Path, required=True, help="table of scores to write")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
