"""Write what one of the demo's annotators, who knows what was drawn, answers in a round of review."""

from pathlib import Path

from benchc.atomic import write_text
from benchc.benchmarks.naturalbench.curation.samples import read_samples
from benchc.benchmarks.naturalbench.demo.annotators import review
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.schemas.parquet import read_table
from scripts.argument_types import seed_argument
from scripts.command import Parser, run
from scripts.naturalbench.review_arguments import add_round, rows_of


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    add_round(parser)
    add = parser.add_argument
    add("--annotator", required=True, help="id of the annotator")
    add("--seed", type=seed_argument, required=True, help="decides which answers are mistakes")
    add("--output", type=Path, required=True, help="{round}/{annotator}.csv to write")
    arguments = parser.parse_args()
    samples = read_samples(arguments.captions, read_table(arguments.pairs, PAIRS))
    rows = rows_of(arguments)
    write_text(arguments.output, review(rows, samples, arguments.annotator, arguments.seed))
    print(f"{arguments.output}: {len(rows):,} answers")


if __name__ == "__main__":
    run(main)
