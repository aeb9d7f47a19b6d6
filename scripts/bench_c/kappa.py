"""Measure the selectors' inconsistency on each item of the pool under corruption (eq. 4 and 5)."""

import sys
from pathlib import Path

import polars as pl

from benchc.benchmarks.bench_c.schemas.kappa import KAPPA, KappaFooter
from benchc.benchmarks.bench_c.selection.kappa import kappa as kappa_of
from benchc.benchmarks.bench_c.selection.selector_predictions import read_by_selector, read_option_counts
from benchc.schemas.parquet import write_table
from benchc.schemas.predictions import check_predictions


def kappa(
    *,
    predictions: list[Path],
    pool: Path,
    selectors: list[str],
    corruptions: list[str],
    severities: list[int],
    output: Path,
) -> None:
    """Measure the selectors' inconsistency on each item of the pool under corruption (eq. 4 and 5).

    Args:
        predictions: predictions/pool/{model}/{part}.parquet of all selectors; folders have the selectors' ids
        pool: pool/items.parquet
        selectors: ids of the selectors, in the order of kappa's terms
        corruptions: those to average over, without clean
        severities: those to compare, 1 to 5
        output: selection/kappa.parquet to write
    """
    check_predictions(predictions, pool)
    table = kappa_of(
        read_by_selector(predictions, selectors), read_option_counts(pool), corruptions, severities
    )
    footer = KappaFooter(selectors=selectors, corruptions=corruptions, severities=severities)
    write_table(table, output, KAPPA, footer)
    inconsistent = table.filter(pl.col("kappa") > 0).height
    print(
        f"{inconsistent:,} of {table.height:,} items have kappa > 0 over {len(selectors)} selectors and "
        f"{len(corruptions)} corruptions",
        file=sys.stderr,
    )
