"""Measure the selectors' inconsistency on each item of the pool under corruption (eq. 4 and 5)."""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.benchmarks.bench_c.schemas.kappa import KAPPA
from benchc.benchmarks.bench_c.selection.kappa import SEVERITIES, kappa
from benchc.benchmarks.bench_c.selection.selector_predictions import read_by_selector, read_option_counts
from benchc.schemas.parquet import write_table
from benchc.schemas.predictions import check_predictions
from scripts.command import Parser, run


def main() -> None:
    arguments = parse_arguments()
    check_predictions(arguments.predictions, arguments.pool)
    predictions = read_by_selector(arguments.predictions, arguments.selectors)
    items = read_option_counts(arguments.pool)
    table = kappa(predictions, items, arguments.corruptions, arguments.severities)
    footer = {
        "selectors": arguments.selectors,
        "corruptions": arguments.corruptions,
        "severities": arguments.severities,
    }
    write_table(table, arguments.output, KAPPA, footer)
    inconsistent = table.filter(pl.col("kappa") > 0).height
    print(
        f"{inconsistent:,} of {table.height:,} items have kappa > 0 over {len(predictions)} selectors and "
        f"{len(arguments.corruptions)} corruptions",
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
        metavar="FILE",
        help="predictions/pool/{model}/{part}.parquet of all selectors; folders have the selectors' ids",
    )
    add("--pool", type=Path, required=True, metavar="FILE", help="pool/items.parquet")
    add(
        "--selectors",
        nargs="+",
        required=True,
        metavar="ID",
        help="ids of the selectors, in the order of kappa's terms",
    )
    add(
        "--corruptions",
        nargs="+",
        required=True,
        metavar="NAME",
        help="corruptions to average over, without clean",
    )
    add(
        "--severities",
        type=int,
        nargs="+",
        default=list(SEVERITIES),
        metavar="NUMBER",
        help="severities to compare (1 to 5) [all]",
    )
    add("--output", type=Path, required=True, help="selection/kappa.parquet to write")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
