"""Give every aggregate and every rank its bootstrap interval (csv), and Table 1 with them (md, tex)."""

import argparse
import sys

from benchc.atomic import write_text
from benchc.benchmarks.bench_c.metrics.bootstrap import DRAWS, bootstrap
from benchc.benchmarks.bench_c.tables.intervals import intervals_latex, intervals_markdown
from scripts.bootstrap_arguments import add_draws, add_models, read_models
from scripts.command import run
from scripts.scores_arguments import add_forms, left_out_note


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.bootstrap", description=__doc__)
    add_models(parser)
    add_draws(parser, DRAWS)
    add_forms(parser)
    arguments = parser.parse_args()
    cube, kappa, labels = read_models(arguments)
    table = bootstrap(cube, kappa, arguments.draws, arguments.seed)
    note = left_out_note(arguments.scores, len(cube.items))
    write_text(arguments.output_csv, table.write_csv())
    write_text(arguments.output_md, intervals_markdown(table, labels, arguments.draws, note))
    write_text(arguments.output_tex, intervals_latex(table, labels, arguments.draws, note))
    print(f"{table.height:,} intervals from {arguments.draws:,} draws", file=sys.stderr)


if __name__ == "__main__":
    run(main)
