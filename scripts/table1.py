"""Make Table 1: clean accuracy, its shift and the RAS of every target, as csv, Markdown and LaTeX."""

import argparse
import sys
from pathlib import Path

from benchc.atomic import write_text
from benchc.benchmarks.bench_c.metrics.table1 import Target, table1
from benchc.benchmarks.bench_c.published.section import beside_table1
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.tables.table1 import table1_latex, table1_markdown
from benchc.errors import InputError
from benchc.schemas.parquet import read_table
from scripts.command import run
from scripts.scores_arguments import items_of, left_out, left_out_note, read_scores

UNKNOWN = "unknown"


def main() -> None:
    arguments = parse_arguments()
    lists = [arguments.models, arguments.labels, arguments.years, arguments.parameters]
    if any(len(values) != len(arguments.scores) for values in lists):
        raise InputError(
            f"{len(arguments.scores)} files of --scores need as many --models, --labels, --years and "
            f"--parameters, not {', '.join(str(len(values)) for values in lists)}"
        )
    targets = [Target(*facts) for facts in zip(*lists, strict=True)]
    scores = read_scores(arguments)
    items = items_of(scores)
    weights = read_table(arguments.selected, SELECTED).filter("kept").select("id", "kappa")
    table = table1(targets, [*scores.values()], weights, left_out=left_out(arguments.scores, items))
    note = left_out_note(arguments.scores, items)
    write_text(arguments.output_csv, table.write_csv())
    write_text(arguments.output_md, table1_markdown(table, note))
    write_text(arguments.output_tex, table1_latex(table, note))
    if arguments.output_published:
        write_text(arguments.output_published, beside_table1(table).write_csv())
    print(f"table 1: {table.height} targets on {items:,} items", file=sys.stderr)


def year(text: str) -> int | None:
    return None if text == UNKNOWN else int(text)


def parameters(text: str) -> float | None:
    return None if text == UNKNOWN else float(text)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.table1",
        description=f"{__doc__} The i-th value of each list belongs to the i-th target.",
    )
    add = parser.add_argument
    add("--scores", type=Path, nargs="+", required=True, help="scores/{model}.parquet of every target")
    add("--models", nargs="+", required=True, help="ids of the targets")
    add("--labels", nargs="+", required=True, help="their names as printed")
    add("--years", type=year, nargs="+", required=True, help=f"their years, or {UNKNOWN!r}")
    add(
        "--parameters",
        type=parameters,
        nargs="+",
        required=True,
        help=f"their numbers of parameters in 10^9, or {UNKNOWN!r}",
    )
    add("--selected", type=Path, required=True, help="selection/selected.parquet, for the weights kappa")
    add("--output-csv", type=Path, required=True, help="table with all digits, to write")
    add("--output-md", type=Path, required=True, help="Markdown table, to write")
    add("--output-tex", type=Path, required=True, help="LaTeX table, to write")
    add(
        "--output-published",
        type=Path,
        help="csv of the values beside those that the paper prints, to write; without rows where no target "
        "has the name of one of the paper's",
    )
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
