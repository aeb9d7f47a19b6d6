"""Write the review form of one annotator and round: an HTML page, and an empty CSV file for a spreadsheet."""

import argparse
import sys
from pathlib import Path

from benchc.atomic import atomic_write, write_text
from benchc.benchmarks.naturalbench.curation.review_csv import review_csv
from benchc.benchmarks.naturalbench.curation.review_rows import PAIRS_ROUND, in_order_of
from benchc.benchmarks.naturalbench.curation.samples import read_images
from benchc.benchmarks.naturalbench.pages.review import review_page
from benchc.pluralize import pluralize
from benchc.progress import track
from scripts.argument_types import positive_argument
from scripts.command import Parser, run
from scripts.naturalbench.review_arguments import add_round, rows_of


def main() -> None:
    arguments = parse_arguments()
    rows = in_order_of(arguments.annotator, rows_of(arguments))
    keys = list(dict.fromkeys(key for row in rows for key in row.images))
    images = track(read_images(arguments.captions, keys), label="review form", unit="images", total=len(keys))
    parts = review_page(
        rows,
        images,
        title=f"{arguments.name}: {about(arguments.round, arguments.rounds)}, by {arguments.annotator}",
        annotator=arguments.annotator,
        file=arguments.returned_to,
    )
    with atomic_write(arguments.html) as file:
        file.writelines(part.encode() for part in parts)
    write_text(arguments.csv, review_csv(rows, arguments.annotator))
    if rows:
        print(
            f"{pluralize(len(rows), 'row')} for {arguments.annotator}: {arguments.html}; the answers belong "
            f"to {arguments.returned_to}",
            file=sys.stderr,
        )


def about(round_: str, rounds: int) -> str:
    """Return what is reviewed in a round, of ``rounds`` rounds of questions; the first is called 0."""
    return "pairs" if round_ == PAIRS_ROUND else f"questions, round {int(round_) + 1} of {rounds}"


def parse_arguments() -> argparse.Namespace:
    parser = Parser(__spec__.name, __doc__)
    add_round(parser)
    add = parser.add_argument
    add("--annotator", required=True, help="id of the annotator")
    add("--rounds", type=positive_argument, required=True, help="how many rounds of questions there may be")
    add("--name", required=True, help="name of the data set, for the title")
    add("--returned-to", required=True, help="where the annotator's CSV file belongs, for the page")
    add("--html", type=Path, required=True, help="curate/review/{round}/{annotator}.html to write")
    add("--csv", type=Path, required=True, help="curate/review/{round}/{annotator}.csv to write")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
