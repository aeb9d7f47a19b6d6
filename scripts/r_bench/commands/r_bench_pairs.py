"""Convert R-Bench as published to a TSV of items and a table of distorted images."""

import sys
from pathlib import Path

from benchc.benchmarks.r_bench.released import released_pairs, write_pairs
from benchc.command_line import SourceId
from benchc.pluralize import pluralize
from benchc.printable import printable
from benchc.progress import track


def r_bench_pairs(files: list[Path], /, *, source: SourceId = "r-bench", tsv: Path, images: Path) -> None:
    """Convert R-Bench as published to a TSV of items and a table of distorted images.

    The files are the Parquet files of lcysyzxdxc/R-Bench on the Hub or ModelScope. Name the TSV in the source
    catalogue, with `reader: {open_ended: true, answer_lists: true}` and `task_column: category`, and the
    images as `released` of a run.

    Args:
        files: Parquet files
        source: id of the source in the catalogue, with which the ids of its items begin
        tsv: TSV to write: the questions, with reference images
        images: table of distorted images to write (Parquet)
    """
    pairs = write_pairs(track(released_pairs(files), label="pairs", unit="pairs"), source, tsv, images)
    refused = [pair for pair in pairs if pair.refused is not None]
    for pair in refused:
        line = f"warning: {pair.values['index']} cannot become an item: {pair.refused}"
        print(printable(line), file=sys.stderr)
    resized = sum(pair.resized for pair in pairs)
    if resized:
        what = pluralize(resized, "photographed pair")
        print(f"note: {what} with images of two sizes, as they are two photographs", file=sys.stderr)
    print(f"{tsv}, {images}: {pluralize(len(pairs) - len(refused), 'pair')}")
