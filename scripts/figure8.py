"""Draw figure 8: how many items of each task were candidates, and how many the benchmark keeps."""

import argparse
from pathlib import Path

from benchc.benchmarks.bench_c.figures.figure8 import figure8
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.rendering.save import save
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from scripts.command import run
from scripts.figure_arguments import add_outputs, add_selected


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.figure8", description=__doc__)
    parser.add_argument("--pool", type=Path, required=True, metavar="FILE", help="table of the pool")
    add_selected(parser)
    add_outputs(parser)
    arguments = parser.parse_args()

    figure = figure8(
        read_table(arguments.pool, POOL, columns=["id", "task"]), read_table(arguments.selected, SELECTED)
    )
    save(figure, png=arguments.png, pdf=arguments.pdf)


if __name__ == "__main__":
    run(main)
