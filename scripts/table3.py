"""Make Table 3: the cases in which severity 1 raises accuracy; and every cell's transitions and regimes."""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.atomic import write_text
from benchc.benchmarks.bench_c.metrics.regimes import cells
from benchc.benchmarks.bench_c.metrics.table3 import subtle_cells, table3
from benchc.benchmarks.bench_c.published.section import beside_table3
from benchc.benchmarks.bench_c.tables.table3 import table3_latex, table3_markdown
from scripts.command import run
from scripts.scores_arguments import (
    add_forms,
    add_published,
    add_scores,
    items_of,
    left_out_note,
    read_scores,
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.table3", description=__doc__)
    add_scores(parser)
    add_forms(parser)
    add_published(parser)
    parser.add_argument(
        "--output-cells",
        type=Path,
        required=True,
        metavar="FILE",
        help="csv of means, transitions and regimes per target, corruption and severity, to write",
    )
    arguments = parser.parse_args()
    scores = read_scores(arguments)
    tables = {label: cells(part) for label, part in scores.items()}
    note = left_out_note(arguments.scores, items_of(scores))
    table, subtle = table3(tables), subtle_cells(tables)
    write_text(arguments.output_csv, table.write_csv())
    write_text(arguments.output_md, table3_markdown(table, subtle, note))
    write_text(arguments.output_tex, table3_latex(table, subtle, note))
    write_text(arguments.output_published, beside_table3(subtle).write_csv())
    every = pl.concat(part.select(pl.lit(label).alias("label"), pl.all()) for label, part in tables.items())
    write_text(arguments.output_cells, every.write_csv())
    print(f"table 3: {table.height} of {subtle.height} cases gain accuracy", file=sys.stderr)


if __name__ == "__main__":
    run(main)
