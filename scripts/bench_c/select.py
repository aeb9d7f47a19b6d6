"""Select the items of the benchmark greedily by discriminative power and diversity (eq. 3)."""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.benchmarks.bench_c.schemas.embeddings import EMBEDDINGS
from benchc.benchmarks.bench_c.schemas.kappa import KAPPA
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.selection.select import FINAL_SCORES, select
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.subset import SUBSET
from scripts.command import Parser, run

FEW = 30  # items: below, means and ranks are mostly chance


def main() -> None:
    arguments = parse_arguments()
    kappa = read_table(arguments.kappa, KAPPA)
    embeddings = read_table(arguments.embeddings, EMBEDDINGS)
    alpha = (arguments.alpha_kappa, arguments.alpha_diversity)
    table = select(kappa, embeddings, alpha, arguments.score)
    footer = {
        "alpha_kappa": arguments.alpha_kappa,
        "alpha_diversity": arguments.alpha_diversity,
        "score": arguments.score,
    }
    write_table(table, arguments.output, SELECTED, footer)
    write_table(table.filter("selected").select("id"), arguments.output_subset, SUBSET)
    zero = table.filter(pl.col("kappa") == 0).height
    kept = table["selected"].sum()
    print(
        f"{kept:,} of {table.height:,} items selected; {zero:,} have kappa 0, {table.height - zero - kept:,} "
        "did not score above the mean",
        file=sys.stderr,
    )
    if kept < FEW:
        print(
            f"warning: {kept:,} items are too few to distinguish models (see tables/intervals.md); use a "
            "larger pool, or selectors that are inconsistent on more items",
            file=sys.stderr,
        )


def parse_arguments() -> argparse.Namespace:
    parser = Parser(__spec__.name, __doc__)
    add = parser.add_argument
    add("--kappa", type=Path, required=True, help="selection/kappa.parquet")
    add("--embeddings", type=Path, required=True, help="selection/embeddings.parquet")
    add("--alpha-kappa", type=float, default=1.0, help="weight of discriminative power (paper: 1)")
    add("--alpha-diversity", type=float, default=1.0, help="weight of semantic diversity (paper: 1)")
    add(
        "--score",
        choices=FINAL_SCORES,
        default="at_pick",
        help="the score that must be above the mean: when the item is picked, or against the final centroid",
    )
    add("--output", type=Path, required=True, help="selection/selected.parquet to write")
    add("--output-subset", type=Path, required=True, help="subsets/selected.parquet to write")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
