"""Draw figure 7: the items of each source in data set, pool and benchmark, and the distribution of kappa."""

import argparse
from pathlib import Path

from benchc.benchmarks.bench_c.figures.figure7 import figure7
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.rendering.save import save
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from scripts.command import run
from scripts.figure_arguments import add_outputs, add_selected


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.figure7", description=__doc__)
    parser.add_argument(
        "--sources",
        type=Path,
        nargs="+",
        required=True,
        metavar="FILE",
        help="tables of items, one a source; a file's name without its ending is the source's in the pool",
    )
    parser.add_argument(
        "--source-labels",
        nargs="+",
        required=True,
        metavar="NAME",
        help="the sources' names as drawn, in the order of --sources",
    )
    parser.add_argument("--pool", type=Path, required=True, metavar="FILE", help="table of the pool")
    add_selected(parser)
    add_outputs(parser)
    arguments = parser.parse_args()
    if len(arguments.source_labels) != len(arguments.sources):
        parser.error("--source-labels: give one name to each file of --sources")

    figure = figure7(
        {path.stem: read_table(path, ITEMS, columns=["id"]).height for path in arguments.sources},
        read_table(arguments.pool, POOL, columns=["id", "source"]),
        read_table(arguments.selected, SELECTED),
        labels={
            path.stem: label for path, label in zip(arguments.sources, arguments.source_labels, strict=True)
        },
    )
    save(figure, png=arguments.png, pdf=arguments.pdf)


if __name__ == "__main__":
    run(main)
