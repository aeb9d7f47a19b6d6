"""Draw how well the selected set tells targets apart, beside random subsets of the pool."""

import argparse
from pathlib import Path

import polars as pl

from benchc.errors import InputError
from benchc.figures.discrimination import discrimination
from benchc.figures.save import save
from scripts.command import run
from scripts.figure_arguments import add_outputs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.figure_discrimination", description=__doc__)
    parser.add_argument(
        "--discrimination", type=Path, required=True, metavar="FILE", help="tables/discrimination.csv"
    )
    add_outputs(parser)
    arguments = parser.parse_args()
    if not arguments.discrimination.exists():
        raise InputError(f"{arguments.discrimination}: no such file; make it first")
    # All rows decide a column's type: one that begins with empty cells may hold numbers further down.
    table = pl.read_csv(arguments.discrimination, infer_schema_length=None)
    save(discrimination(table), png=arguments.png, pdf=arguments.pdf)


if __name__ == "__main__":
    run(main)
