"""Sample items outside the benchmark, with which the selected set is compared."""

import argparse
import sys
from pathlib import Path

from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.selection.unselected import unselected
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.subset import SUBSET
from scripts.command import Parser, run


def main() -> None:
    arguments = parse_arguments()
    selected = read_table(arguments.selected, SELECTED)
    sample = unselected(selected, arguments.count)
    candidates = selected.height - int(selected["selected"].sum())
    write_table(sample, arguments.output, SUBSET, {"candidates": candidates})
    print(f"{sample.height:,} of {candidates:,} items that were not selected", file=sys.stderr)


def parse_arguments() -> argparse.Namespace:
    parser = Parser(__spec__.name, __doc__)
    add = parser.add_argument
    add("--selected", type=Path, required=True, help="selection/selected.parquet")
    add("--count", type=int, help="maximum number of items; default: all")
    add("--output", type=Path, required=True, help="subsets/unselected.parquet to write")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
