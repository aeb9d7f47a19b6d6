"""Make Table 2: how sensitive RAS and accuracy are to one more step of severity, with a paired t-test."""

import argparse
import sys

from benchc.atomic import write_text
from benchc.benchmarks.bench_c.metrics.table2 import sensitivity, table2
from benchc.benchmarks.bench_c.published.section import beside_table2
from benchc.benchmarks.bench_c.tables.table2 import table2_latex, table2_markdown
from scripts.command import run
from scripts.scores_arguments import (
    add_forms,
    add_published,
    add_scores,
    items_of,
    left_out_note,
    read_scores,
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.table2", description=__doc__)
    add_scores(parser)
    parser.add_argument(
        "--centring",
        choices=["none", "items"],
        default="none",
        help="items: z is the distance from the mean shift over items; none (default): from no shift",
    )
    add_forms(parser)
    add_published(parser)
    arguments = parser.parse_args()
    centred = arguments.centring == "items"
    scores = read_scores(arguments)
    table = table2({label: sensitivity(part, centred=centred) for label, part in scores.items()})
    note = left_out_note(arguments.scores, items_of(scores))
    write_text(arguments.output_csv, table.write_csv())
    write_text(arguments.output_md, table2_markdown(table, centred=centred, note=note))
    write_text(arguments.output_tex, table2_latex(table, centred=centred, note=note))
    write_text(arguments.output_published, beside_table2(table).write_csv())
    print(f"table 2: {table.height} targets", file=sys.stderr)


if __name__ == "__main__":
    run(main)
