"""Sample items outside the benchmark, with which the selected set is compared."""

import sys
from pathlib import Path

from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.selection.unselected import unselected
from benchc.command_line import PositiveInt
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.subset import SUBSET, SampleFooter


def sample_unselected(*, selected: Path, at_most: PositiveInt | None = None, output: Path) -> None:
    """Sample items outside the benchmark, with which the selected set is compared.

    Args:
        selected: selection/selected.parquet
        at_most: maximum number of items; default: all
        output: subsets/unselected.parquet to write
    """
    items = read_table(selected, SELECTED)
    sample = unselected(items, at_most)
    candidates = items.height - int(items["selected"].sum())
    write_table(sample, output, SUBSET, SampleFooter(candidates=candidates))
    print(f"{sample.height:,} of {candidates:,} items that were not selected", file=sys.stderr)
