"""Write the replies of the demo's language model, as a folder of recordings that write_questions replays."""

from pathlib import Path

from benchc.atomic import atomic_folder
from benchc.benchmarks.naturalbench.curation.samples import read_samples
from benchc.benchmarks.naturalbench.demo.writer import record_replies
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.schemas.parquet import read_table
from scripts.argument_types import positive_argument, seed_argument
from scripts.command import Parser, run
from scripts.naturalbench.writer_arguments import add_writer, writer_of


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    add = parser.add_argument
    add("--pairs", type=Path, required=True, help="curate/pairs.parquet or curate/kept_pairs.parquet")
    add("--captions", type=Path, required=True, help="curate/captions.parquet")
    add("--rounds", type=positive_argument, required=True, help="number of rounds")
    add("--seed", type=seed_argument, required=True, help="decides which replies are not usable")
    add_writer(parser)
    add("--output", type=Path, required=True, help="folder to write")
    arguments = parser.parse_args()
    samples = read_samples(arguments.captions, read_table(arguments.pairs, PAIRS))
    writer = writer_of(arguments)
    with atomic_folder(arguments.output) as folder:
        count = record_replies(
            samples, list(writer.templates), arguments.rounds, writer, arguments.seed, folder
        )
    print(f"{arguments.output}: {count:,} replies to requests about {len(samples):,} pairs")


if __name__ == "__main__":
    run(main)
