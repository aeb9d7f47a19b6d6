"""Draw how well the selected set tells targets apart, beside random subsets of the pool."""

import argparse
from pathlib import Path

from benchc.benchmarks.bench_c.figures.figure_discrimination import discrimination
from benchc.rendering.save import save
from benchc.schemas.printed import read_printed
from scripts.command import run
from scripts.figure_arguments import add_outputs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.figure_discrimination", description=__doc__)
    parser.add_argument(
        "--discrimination", type=Path, required=True, metavar="FILE", help="tables/discrimination.csv"
    )
    add_outputs(parser)
    arguments = parser.parse_args()
    save(discrimination(read_printed(arguments.discrimination)), png=arguments.png, pdf=arguments.pdf)


if __name__ == "__main__":
    run(main)
