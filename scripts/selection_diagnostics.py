"""Measure how stable the selected set is under other choices, and what selection does to kappa."""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.atomic import write_text
from benchc.benchmarks.bench_c.schemas.embeddings import EMBEDDINGS
from benchc.benchmarks.bench_c.selection.select import FINAL_SCORES
from benchc.benchmarks.bench_c.selection.stability import COLUMNS, Setting, settings_beside, stability
from benchc.benchmarks.bench_c.tables.selection_stability import stability_latex, stability_markdown
from benchc.progress import track
from benchc.schemas.parquet import read_table
from scripts.bench_c.selector_arguments import add_selectors, read_by_selector, read_option_counts
from scripts.command import run


def main() -> None:
    arguments = parse_arguments()
    reads = read_by_selector(arguments.predictions, arguments.selectors)
    items = read_option_counts(arguments.pool)
    embeddings = read_table(arguments.embeddings, EMBEDDINGS)
    alpha = (arguments.alpha_kappa, arguments.alpha_diversity)
    configured = Setting(
        tuple(arguments.selectors), tuple(sorted(arguments.severities)), alpha, arguments.score
    )
    count = 1 + sum(1 for _ in settings_beside(configured))
    found = stability(configured, reads, items, arguments.corruptions, embeddings)
    rows = list(track(found, total=count, label="selections", unit="settings"))
    table = pl.DataFrame(rows, schema=COLUMNS)
    write_text(arguments.output_csv, table.write_csv())
    write_text(arguments.output_md, stability_markdown(table))
    write_text(arguments.output_tex, stability_latex(table))
    others = table[1:].drop_nulls("jaccard")
    worst = others.sort("jaccard", maintain_order=True).head(1).row(0, named=True) if others.height else None
    least = f"; least alike, Jaccard {worst['jaccard']:.2f}: {worst['choice']} {worst['setting']}"
    print(f"{table.height - 1} other selections{least if worst else ''}", file=sys.stderr)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.selection_diagnostics", description=__doc__)
    add_selectors(parser)
    add = parser.add_argument
    add("--embeddings", type=Path, required=True, help="selection/embeddings.parquet")
    add("--alpha-kappa", type=float, default=1.0, help="weight of discriminative power (paper: 1)")
    add("--alpha-diversity", type=float, default=1.0, help="weight of semantic diversity (paper: 1)")
    add("--score", choices=FINAL_SCORES, default="at_pick", help="which score must be above the mean")
    add("--output-csv", type=Path, required=True, help="table with all digits, to write")
    add("--output-md", type=Path, required=True, help="Markdown table, to write")
    add("--output-tex", type=Path, required=True, help="LaTeX table, to write")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
