"""Check the claims of the paper's results on this run: holds, does not hold, or not applicable."""

import argparse
import sys
from pathlib import Path

from benchc.atomic import write_text
from benchc.benchmarks.bench_c.claims.evidence import evidence
from benchc.benchmarks.bench_c.claims.table import claims
from benchc.benchmarks.bench_c.metrics.table1 import Target
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.tables.claims import claims_latex, claims_markdown
from benchc.errors import InputError
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from scripts.command import run
from scripts.scores_arguments import add_forms, add_scores, items_of, left_out, left_out_note, read_scores


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.claims", description=__doc__)
    add = parser.add_argument
    add_scores(parser)
    add("--pool", type=Path, required=True, metavar="FILE", help="table of the pool")
    add("--selected", type=Path, required=True, metavar="FILE", help="table of the selection")
    add("--corruptions", nargs="+", required=True, metavar="NAME", help="the corruptions of the run")
    add("--families", nargs="+", required=True, metavar="NAME", help="the family of each corruption")
    add("--example-label", required=True, metavar="NAME", help="the target of figure 4, one of --labels")
    add("--example-corruption", required=True, metavar="NAME", help="the corruption of figure 4")
    add("--example-severity", type=int, required=True, metavar="N", help="the severity of figure 4")
    add_forms(parser)
    arguments = parser.parse_args()
    if len(arguments.families) != len(arguments.corruptions):
        raise InputError("--families: give one family to each corruption of --corruptions")
    scores = read_scores(arguments)
    items = items_of(scores)
    table = claims(
        evidence(
            [Target(label, label, None, None) for label in scores],
            list(scores.values()),
            read_table(arguments.selected, SELECTED),
            read_table(arguments.pool, POOL, columns=["id", "source", "task"]),
            families=dict(zip(arguments.corruptions, arguments.families, strict=True)),
            example=(arguments.example_label, arguments.example_corruption, arguments.example_severity),
            left_out=left_out(arguments.scores, items),
        )
    )
    note = left_out_note(arguments.scores, items)
    write_text(arguments.output_csv, table.write_csv())
    write_text(arguments.output_md, claims_markdown(table, note))
    write_text(arguments.output_tex, claims_latex(table, note))
    print(f"claims: {table['verdict'].value_counts(sort=True).rows()}", file=sys.stderr)


if __name__ == "__main__":
    run(main)
