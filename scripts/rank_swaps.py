"""Test for every pair of targets whether RAS and ΔAcc order it differently, as csv, Markdown and LaTeX."""

import argparse
import sys

from benchc.atomic import write_text
from benchc.benchmarks.bench_c.metrics.rank_swaps import DRAWS, rank_swaps
from benchc.benchmarks.bench_c.tables.rank_swaps import rank_swaps_latex, rank_swaps_markdown
from scripts.bootstrap_arguments import add_draws, add_models, read_models
from scripts.command import run
from scripts.scores_arguments import add_forms, left_out_note


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.rank_swaps", description=__doc__)
    add_models(parser)
    add_draws(parser, DRAWS)
    add_forms(parser)
    arguments = parser.parse_args()
    cube, kappa, labels = read_models(arguments)
    table = rank_swaps(cube, kappa, arguments.draws, arguments.seed)
    note = left_out_note(arguments.scores, len(cube.items))
    write_text(arguments.output_csv, table.write_csv())
    write_text(arguments.output_md, rank_swaps_markdown(table, labels, arguments.draws, note))
    write_text(arguments.output_tex, rank_swaps_latex(table, labels, arguments.draws, note))
    print(f"{table.height:,} pairs of targets, {int(table['swap'].sum())} swap", file=sys.stderr)


if __name__ == "__main__":
    run(main)
