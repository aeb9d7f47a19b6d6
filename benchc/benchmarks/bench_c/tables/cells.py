"""The means, transitions and regimes of every target, corruption and severity, for a csv file."""

import polars as pl

from benchc.benchmarks.bench_c.metrics import regimes
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.rendering.output import Table


def cells(targets: TargetScores) -> Table:
    """Return the cells of all targets, columns label and those of ``metrics.regimes``."""
    tables = {label: regimes.cells(part) for label, part in targets.by_label.items()}
    return Table(
        pl.concat(part.select(pl.lit(label).alias("label"), pl.all()) for label, part in tables.items())
    )
