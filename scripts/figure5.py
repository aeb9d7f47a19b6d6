"""Draw figure 5: one item, clean and corrupted, with its pictures and a target's probabilities.

Without --item it is the item whose reads show the most regimes, most pronouncedly; without --reads they are
its most pronounced read of each regime, each under another corruption where it can be.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from benchc.benchmarks.bench_c.figures.cases import (
    cases_of_item,
    item_of_most_regimes,
    named_cases,
    with_probabilities,
)
from benchc.benchmarks.bench_c.figures.figure5 import MOST_READS, figure5
from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.errors import InputError
from benchc.images import Pixels
from benchc.rendering.item_pictures import item_pictures
from benchc.rendering.save import save
from benchc.schemas.corrupted_images import images_of_items
from benchc.schemas.parquet import iterate_groups, read_table
from benchc.schemas.pool import POOL
from scripts.command import run
from scripts.figure_arguments import add_outputs
from scripts.target_arguments import add_target, read_reads


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.figure5",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_target(parser)
    parser.add_argument(
        "--images",
        type=Path,
        nargs="+",
        required=True,
        metavar="FILE",
        help="tables of corrupted images; a file's name without its ending is its corruption's",
    )
    parser.add_argument("--item", metavar="ID", help="item of the benchmark to show")
    parser.add_argument(
        "--reads",
        type=_read,
        nargs="+",
        metavar="NAME:N",
        help=f"one to {MOST_READS} corruptions and severities to show, such as snow:5",
    )
    add_outputs(parser)
    arguments = parser.parse_args()
    if arguments.reads and len(set(arguments.reads)) != len(arguments.reads):
        parser.error("--reads: name no read twice")
    if arguments.reads and len(arguments.reads) > MOST_READS:
        parser.error(f"--reads: at most {MOST_READS} fit beside each other")

    scores = read_table(arguments.scores, SCORES)
    item = arguments.item or item_of_most_regimes(scores)
    chosen = named_cases(scores, item, arguments.reads) if arguments.reads else cases_of_item(scores, item)
    pool_row = _item(item, arguments.pool)
    cases = with_probabilities(
        chosen, read_reads(arguments.predictions), pl.DataFrame([pool_row]).select("id", "answer", "options")
    )
    figure = figure5(
        cases,
        label=arguments.label,
        question=pool_row["question"],
        clean=item_pictures(pool_row, arguments.pool),
        corrupted=_corrupted(cases, pool_row["image_keys"], {path.stem: path for path in arguments.images}),
    )
    save(figure, png=arguments.png, pdf=arguments.pdf)


def _read(text: str) -> tuple[str, int]:
    name, colon, severity = text.partition(":")
    if not (name and colon and severity.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form snow:5")
    return name, int(severity)


def _item(item: str, pool: Path) -> dict[str, Any]:
    for rows in iterate_groups(pool, POOL, "id", {item}):
        return rows.row(0, named=True)
    raise InputError(f"{pool}: it has no item {item!r}; name another one, or make the pool again")


def _corrupted(
    cases: pl.DataFrame, keys: Sequence[str], paths: Mapping[str, Path]
) -> dict[tuple[str, int], list[Pixels]]:
    pictures: dict[tuple[str, int], list[Pixels]] = {}
    for item, corruption, severity in cases.select("id", "corruption", "severity").rows():
        if corruption not in paths:
            raise InputError(
                f"--images: there is no file {corruption}.parquet among them; give that of every corruption "
                "that is shown"
            )
        for _, variants in images_of_items(paths[corruption], {item: keys}, {severity}):
            pictures[corruption, severity] = variants[severity]
    return pictures


if __name__ == "__main__":
    run(main)
