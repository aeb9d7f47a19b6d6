"""Draw what another order of the options changes: predictions, and the uncertainty that one order hides."""

import argparse
from pathlib import Path

import polars as pl

from benchc.errors import InputError
from benchc.figures.option_order import option_order
from benchc.figures.save import save
from scripts.command import run
from scripts.figure_arguments import add_outputs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.figure_option_order", description=__doc__)
    parser.add_argument(
        "--option-order", type=Path, required=True, metavar="FILE", help="tables/option_order.csv"
    )
    add_outputs(parser)
    arguments = parser.parse_args()
    if not arguments.option_order.exists():
        raise InputError(f"{arguments.option_order}: no such file; make it first")
    # All rows decide a column's type: one that begins with empty cells may hold numbers further down.
    table = pl.read_csv(arguments.option_order, infer_schema_length=None)
    save(option_order(table), png=arguments.png, pdf=arguments.pdf)


if __name__ == "__main__":
    run(main)
