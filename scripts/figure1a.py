"""Draw figure 1(a): the share of items per bin of kappa, candidate pool beside benchmark."""

import argparse

from benchc.benchmarks.bench_c.figures.figure1a import figure1a
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.rendering.save import save
from benchc.schemas.parquet import read_table
from scripts.command import run
from scripts.figure_arguments import add_outputs, add_selected


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.figure1a", description=__doc__)
    add_selected(parser)
    add_outputs(parser)
    arguments = parser.parse_args()

    save(figure1a(read_table(arguments.selected, SELECTED)), png=arguments.png, pdf=arguments.pdf)


if __name__ == "__main__":
    run(main)
