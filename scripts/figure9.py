"""Draw figure 9: items of low, medium and high kappa with their pictures, of the whole pool.

Without --items they are taken of as many sources and tasks as there are: those of the lowest, of the middle
and of the highest kappa.
"""

import argparse
from pathlib import Path

import polars as pl

from benchc.benchmarks.bench_c.figures.figure9 import figure9
from benchc.benchmarks.bench_c.figures.kappa_examples import examples_by_kappa
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.errors import InputError
from benchc.rendering.item_pictures import item_pictures
from benchc.rendering.save import save
from benchc.schemas.parquet import iterate_groups, read_table
from benchc.schemas.pool import POOL
from scripts.command import run
from scripts.figure_arguments import add_outputs, add_selected


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.figure9",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--pool", type=Path, required=True, metavar="FILE", help="table of the pool")
    add_selected(parser)
    parser.add_argument(
        "--each", type=int, default=4, metavar="N", help="items of each band; default: %(default)s"
    )
    parser.add_argument("--items", nargs="+", metavar="ID", help="items to show instead")
    add_outputs(parser)
    arguments = parser.parse_args()
    if arguments.each < 1:
        parser.error("--each: at least one")

    kappas = read_table(arguments.selected, SELECTED).select("id", "kappa")
    pool = read_table(arguments.pool, POOL, ["id", "source", "task"]).join(kappas, on="id", how="left")
    unknown = pool.filter(pl.col("kappa").is_null())
    if unknown.height:
        raise InputError(
            f"{arguments.selected}: {unknown.height} items of the pool have no kappa, first "
            f"{unknown['id'][0]!r}; make the selection again"
        )
    examples = examples_by_kappa(pool, each=arguments.each, ids=arguments.items)
    rows = pl.concat(iterate_groups(arguments.pool, POOL, "id", set(examples["id"])))
    pictures = {row["id"]: item_pictures(row, arguments.pool) for row in rows.iter_rows(named=True)}
    figure = figure9(
        examples.join(
            rows.select("id", "question", "options", "answer"), on="id", how="left", maintain_order="left"
        ),
        pictures,
        largest_kappa=float(pool["kappa"].to_numpy().max()),
    )
    save(figure, png=arguments.png, pdf=arguments.pdf)


if __name__ == "__main__":
    run(main)
