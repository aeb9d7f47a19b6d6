"""Compare how well the selected set tells targets apart with random subsets of the pool, as csv, md, tex."""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.atomic import write_text
from benchc.benchmarks.bench_c.metrics.cube import cube_of
from benchc.benchmarks.bench_c.metrics.discrimination import DRAWS, discrimination
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.tables.discrimination import discrimination_latex, discrimination_markdown
from benchc.errors import InputError
from benchc.rendering.counted import counted
from benchc.schemas.parquet import read_table
from scripts.bootstrap_arguments import positive
from scripts.command import run
from scripts.scores_arguments import add_forms, add_scores, left_out, left_out_note, read_scores


def main() -> None:
    arguments = parse_arguments()
    if len(arguments.unselected_scores) != len(arguments.scores):
        raise InputError("--unselected-scores: give one file to each file of --scores, in the same order")
    others = argparse.Namespace(labels=arguments.labels, scores=arguments.unselected_scores)
    inside, outside = read_scores(arguments), read_scores(others)
    pool = read_table(arguments.selected, SELECTED)
    kept = set(pool.filter("kept")["id"])
    for label, table in inside.items():
        refuse(set(table["id"]) - kept, f"--scores: {label}", "not selected", arguments.selected)
        refuse(
            set(outside[label]["id"]) & kept, f"--unselected-scores: {label}", "selected", arguments.selected
        )
    read = len(set().union(*(table["id"] for table in inside.values())))
    if len(kept) - read != left_out(arguments.scores, read):
        raise InputError(
            f"--scores: {read:,} of the {len(kept):,} selected items of {arguments.selected} were scored, "
            "and no reads of the others are said to be missing; make the scores again"
        )
    cube = cube_of({label: pl.concat([table, outside[label]]) for label, table in inside.items()})
    table = discrimination(
        cube,
        cube.kappa(pool),
        pl.Series(cube.items).is_in(list(kept)).to_numpy(),
        (len(kept), pool.height - len(kept)),
        arguments.draws,
        arguments.seed,
    )
    write_text(arguments.output_csv, table.write_csv())
    note = left_out_note(arguments.scores, read)
    write_text(arguments.output_md, discrimination_markdown(table, note))
    write_text(arguments.output_tex, discrimination_latex(table, note))
    print(
        f"{counted(len(cube.models), 'target')}; the selected set beside "
        f"{counted(arguments.draws, 'random subset')} of {table['size'][0]:,} of "
        f"{counted(pool.height, 'item')}",
        file=sys.stderr,
    )


def refuse(items: set[str], scores: str, kind: str, selected: Path) -> None:
    """Raise InputError where there are ``items`` of the wrong ``kind`` in a target's ``scores``."""
    if items:
        raise InputError(
            f"{scores} was scored on {len(items):,} items, such as {min(items)}, that are {kind} in "
            f"{selected}; make its predictions and scores again"
        )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.discrimination", description=__doc__)
    add_scores(parser)
    add = parser.add_argument
    add(
        "--unselected-scores",
        type=Path,
        nargs="+",
        required=True,
        metavar="FILE",
        help="tables of scores of unselected items, one a target, in the order of --scores",
    )
    add("--selected", type=Path, required=True, help="selection/selected.parquet: the whole pool, with kappa")
    add("--draws", type=positive, default=DRAWS, help="random subsets of the pool [%(default)s]")
    add("--seed", type=int, default=0, help="seed of the random subsets [%(default)s]")
    add_forms(parser)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
