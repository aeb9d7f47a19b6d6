"""Draw figure 10: RAS by corruption and severity, boxes over models, one panel a family."""

import argparse

from benchc.benchmarks.bench_c.figures.figure10 import figure10
from benchc.rendering.save import save
from scripts.command import run
from scripts.family_arguments import add_families, families_of
from scripts.figure_arguments import add_outputs
from scripts.scores_arguments import add_scores, items_of, left_out_note, read_scores


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.figure10", description=__doc__)
    add_scores(parser)
    add_families(parser)
    add_outputs(parser)
    arguments = parser.parse_args()

    families = families_of(arguments)
    scores = read_scores(arguments)
    note = left_out_note(arguments.scores, items_of(scores))
    save(figure10(scores, families_of=families, note=note), png=arguments.png, pdf=arguments.pdf)


if __name__ == "__main__":
    run(main)
