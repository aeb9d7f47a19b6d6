"""Write the pairs for retrieval and their samples: those of curation that people kept, or of a CSV file."""

from pathlib import Path

import polars as pl

from benchc.atomic import write_text
from benchc.benchmarks.naturalbench.curation.retrieval_pairs import curated, read_retrieval_pairs
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.schemas.parquet import read_table, write_table
from benchc.sources.report import SCHEMA, summary
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    add = parser.add_argument
    add("--captions", type=Path, nargs="?", help="curate/captions.parquet")
    add("--pairs", type=Path, nargs="?", help="curate/kept_pairs.parquet")
    add("--file", type=Path, help="CSV file: pair, image_0, image_1, caption_0, caption_1; in place of these")
    add("--images", type=Path, help="folder of the images of FILE")
    add("--output", type=Path, required=True, help="retrieval/captions.parquet")
    add("--output-pairs", type=Path, required=True, help="retrieval/pairs.parquet")
    add("--report", type=Path, required=True, help="CSV file: id, line, kind, reason")
    arguments = parser.parse_args()
    if arguments.file is not None:
        if arguments.images is None:
            parser.error("--file needs --images")
        captions, pairs, report = read_retrieval_pairs(arguments.file, arguments.images)
    else:
        if arguments.captions is None or arguments.pairs is None:
            parser.error("give --captions and --pairs, or --file and --images")
        captions, pairs = curated(
            read_table(arguments.captions, CAPTIONS), read_table(arguments.pairs, PAIRS)
        )
        report = pl.DataFrame(schema=SCHEMA)
    print(summary("retrieval", pairs.height, report, "pair"))
    write_text(arguments.report, report.write_csv())
    write_table(captions, arguments.output, CAPTIONS)
    write_table(pairs, arguments.output_pairs, PAIRS)


if __name__ == "__main__":
    run(main)
