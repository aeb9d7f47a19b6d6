"""Draw figure 1(a): the share of items per bin of kappa, candidate pool beside benchmark."""

import argparse
from pathlib import Path

from benchc.figures.figure1a import figure1a
from benchc.figures.save import save
from benchc.tables.parquet import read_table
from benchc.tables.selected import SELECTED
from scripts.command import run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.figure1a", description=__doc__)
    parser.add_argument(
        "--selected",
        type=Path,
        required=True,
        metavar="FILE",
        help="table of the selection",
    )
    parser.add_argument("--png", type=Path, required=True, metavar="FILE", help="picture to write, 300 dpi")
    parser.add_argument("--pdf", type=Path, required=True, metavar="FILE", help="vector drawing to write")
    arguments = parser.parse_args()

    save(figure1a(read_table(arguments.selected, SELECTED)), png=arguments.png, pdf=arguments.pdf)


if __name__ == "__main__":
    run(main)
