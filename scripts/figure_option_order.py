"""Draw what another order of the options changes: predictions, and the uncertainty that one order hides."""

import argparse
from pathlib import Path

from benchc.benchmarks.bench_c.figures.figure_option_order import option_order
from benchc.rendering.save import save
from benchc.schemas.printed import read_printed
from scripts.command import run
from scripts.figure_arguments import add_outputs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.figure_option_order", description=__doc__)
    parser.add_argument(
        "--option-order", type=Path, required=True, metavar="FILE", help="tables/option_order.csv"
    )
    add_outputs(parser)
    arguments = parser.parse_args()
    save(option_order(read_printed(arguments.option_order)), png=arguments.png, pdf=arguments.pdf)


if __name__ == "__main__":
    run(main)
