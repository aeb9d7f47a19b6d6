"""Select the items of the benchmark greedily by discriminative power and diversity (eq. 3)."""

import sys
from pathlib import Path

import polars as pl

from benchc.benchmarks.bench_c.schemas.embeddings import EMBEDDINGS
from benchc.benchmarks.bench_c.schemas.kappa import KAPPA
from benchc.benchmarks.bench_c.schemas.selected import SELECTED, SelectedFooter
from benchc.benchmarks.bench_c.selection.select import FinalScore
from benchc.benchmarks.bench_c.selection.select import select as selection
from benchc.pluralize import pluralize
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.subset import SUBSET

FEW = 30  # items: below, means and ranks are mostly chance


def select(
    *,
    kappa: Path,
    embeddings: Path,
    alpha_kappa: float = 1.0,
    alpha_diversity: float = 1.0,
    score: FinalScore = "at_pick",
    table: Path,
    subset: Path,
) -> None:
    """Select the items of the benchmark greedily by discriminative power and diversity (eq. 3).

    Args:
        kappa: selection/kappa.parquet
        embeddings: selection/embeddings.parquet
        alpha_kappa: weight of discriminative power (paper: 1)
        alpha_diversity: weight of semantic diversity (paper: 1)
        score: the score that must be above the mean: when the item is picked, or against the final centroid
        table: selection/selected.parquet to write
        subset: subsets/selected.parquet to write
    """
    items = selection(
        read_table(kappa, KAPPA), read_table(embeddings, EMBEDDINGS), (alpha_kappa, alpha_diversity), score
    )
    footer = SelectedFooter(alpha_kappa=alpha_kappa, alpha_diversity=alpha_diversity, score=score)
    write_table(items, table, SELECTED, footer)
    write_table(items.filter("selected").select("id"), subset, SUBSET)
    zero = items.filter(pl.col("kappa") == 0).height
    kept = int(items["selected"].sum())
    print(
        f"{kept:,} of {items.height:,} items selected; {zero:,} have kappa 0, {items.height - zero - kept:,} "
        "did not score above the mean",
        file=sys.stderr,
    )
    if kept < FEW:
        print(
            f"warning: {pluralize(kept, 'item')} selected, too few to distinguish models (see "
            "tables/intervals.md); use a larger pool, or selectors that are inconsistent on more items",
            file=sys.stderr,
        )
