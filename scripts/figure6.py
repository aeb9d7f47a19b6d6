"""Draw figure 6: the destructive and corrective robustness matrices, models by corruptions."""

import argparse

from benchc.figures.figure6 import figure6
from benchc.figures.save import save
from benchc.progress import track
from benchc.tables.parquet import read_table
from benchc.tables.scores import SCORES
from scripts.command import run
from scripts.family_arguments import add_families
from scripts.figure_arguments import add_outputs
from scripts.scores_arguments import add_scores


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.figure6", description=__doc__)
    add_scores(parser)
    add_families(parser)
    add_outputs(parser)
    arguments = parser.parse_args()
    if len(arguments.labels) != len(arguments.scores) or len(set(arguments.labels)) != len(arguments.labels):
        parser.error("--labels: give one name to each file of --scores, no name twice")
    if len(arguments.families) != len(arguments.corruptions):
        parser.error("--families: give one family to each corruption of --corruptions")

    paths = track(arguments.scores, label="scores", unit="files")
    scores = {
        label: read_table(path, SCORES, columns=["id", "corruption", "correct_clean", "ras"])
        for label, path in zip(arguments.labels, paths, strict=True)
    }
    families_of = dict(zip(arguments.corruptions, arguments.families, strict=True))
    save(figure6(scores, families_of=families_of), png=arguments.png, pdf=arguments.pdf)


if __name__ == "__main__":
    run(main)
