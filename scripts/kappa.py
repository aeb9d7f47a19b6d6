"""Measure how much the selectors' answers to each item of the pool waver under corruption (eq. 4 and 5)."""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.progress import track
from benchc.selection.kappa import SEVERITIES, kappa
from benchc.tables.kappa import KAPPA
from benchc.tables.parquet import read_table, write_table
from benchc.tables.pool import POOL
from benchc.tables.predictions_of_model import read_predictions
from scripts.command import run


def main() -> None:
    arguments = parse_arguments()
    reads = read_by_selector(arguments.predictions, arguments.selectors)
    pool = read_table(arguments.pool, POOL, ["id", "options"])
    items = pool.select("id", pl.col("options").list.len().cast(pl.Int64))
    table = kappa(reads, items, arguments.corruptions, arguments.severities)
    footer = {
        "selectors": arguments.selectors,
        "corruptions": arguments.corruptions,
        "severities": arguments.severities,
    }
    write_table(table, arguments.output, KAPPA, footer)
    wavering = table.filter(pl.col("kappa") > 0).height
    print(
        f"{wavering:,} of {table.height:,} items have kappa > 0 over {len(reads)} selectors and "
        f"{len(arguments.corruptions)} corruptions",
        file=sys.stderr,
    )


def read_by_selector(paths: list[Path], selectors: list[str]) -> dict[str, pl.DataFrame]:
    """Return the reads of every selector, in the order of ``selectors``."""
    found: dict[str, list[Path]] = {selector: [] for selector in selectors}
    if len(found) != len(selectors):
        raise SystemExit(f"--selectors: one occurs twice: {' '.join(selectors)}")
    for path in paths:
        if path.parent.name not in found:
            raise SystemExit(
                f"{path}: lies in the folder of {path.parent.name}, which is not one of --selectors "
                f"{' '.join(selectors)}"
            )
        found[path.parent.name].append(path)
    missing = [selector for selector, files in found.items() if not files]
    if missing:
        raise SystemExit(f"--predictions: no file lies in a folder named {' or '.join(missing)}")
    return {
        selector: read_predictions(files, ["id", "corruption", "severity", "logits"])
        for selector, files in track(found.items(), label="predictions", unit="selectors")
    }


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.kappa", description=__doc__)
    add = parser.add_argument
    add(
        "--predictions",
        type=Path,
        nargs="+",
        required=True,
        help="predictions/pool/{model}/{batch}.parquet of all selectors; the folder is the selector's name",
    )
    add("--pool", type=Path, required=True, help="pool/items.parquet")
    add(
        "--selectors",
        nargs="+",
        required=True,
        help="ids of the selectors, in the order of the table's parts",
    )
    add("--corruptions", nargs="+", required=True, help="corruptions that count; clean does not")
    add("--severities", type=int, nargs="+", default=list(SEVERITIES), help="severities that count (1 to 5)")
    add("--output", type=Path, required=True, help="selection/kappa.parquet to write")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
