"""Draw figure 3: a target's most pronounced read of each regime, and the probabilities of its options."""

import argparse

from benchc.benchmarks.bench_c.figures.cases import case_of_each_regime, with_probabilities
from benchc.benchmarks.bench_c.figures.figure3 import figure3
from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.rendering.save import save
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from scripts.command import run
from scripts.figure_arguments import add_outputs
from scripts.target_arguments import add_target, read_reads


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.figure3", description=__doc__)
    add_target(parser)
    add_outputs(parser)
    arguments = parser.parse_args()

    cases = with_probabilities(
        case_of_each_regime(read_table(arguments.scores, SCORES)),
        read_reads(arguments.predictions),
        read_table(arguments.pool, POOL, columns=["id", "answer", "options"]),
    )
    save(figure3(cases, label=arguments.label), png=arguments.png, pdf=arguments.pdf)


if __name__ == "__main__":
    run(main)
