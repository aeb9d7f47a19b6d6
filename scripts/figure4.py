"""Draw figure 4: one target's samples in the (ΔS, ΔC) plane under one corruption at one severity."""

import argparse
from pathlib import Path

from benchc.benchmarks.bench_c.figures.figure4 import figure4
from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.rendering.save import save
from benchc.schemas.parquet import read_table
from scripts.command import run
from scripts.figure_arguments import add_outputs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.figure4", description=__doc__)
    parser.add_argument(
        "--scores", type=Path, required=True, metavar="FILE", help="table of the target's scores"
    )
    parser.add_argument("--label", required=True, metavar="NAME", help="the target's name as drawn")
    parser.add_argument("--corruption", required=True, metavar="NAME", help="the corruption, such as snow")
    parser.add_argument("--severity", type=int, required=True, metavar="N", help="its severity, 1 to 5")
    add_outputs(parser)
    arguments = parser.parse_args()

    figure = figure4(
        read_table(arguments.scores, SCORES),
        label=arguments.label,
        corruption=arguments.corruption,
        severity=arguments.severity,
    )
    save(figure, png=arguments.png, pdf=arguments.pdf)


if __name__ == "__main__":
    run(main)
