"""Measure how much the selectors' answers to each item of the pool waver under corruption (eq. 4 and 5)."""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.benchmarks.bench_c.schemas.kappa import KAPPA
from benchc.benchmarks.bench_c.selection.kappa import kappa
from benchc.schemas.parquet import write_table
from scripts.bench_c.selector_arguments import add_selectors, read_by_selector, read_option_counts
from scripts.command import run


def main() -> None:
    arguments = parse_arguments()
    reads = read_by_selector(arguments.predictions, arguments.selectors)
    items = read_option_counts(arguments.pool)
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


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.bench_c.kappa", description=__doc__)
    add_selectors(parser)
    parser.add_argument("--output", type=Path, required=True, help="selection/kappa.parquet to write")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
