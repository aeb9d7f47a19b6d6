"""Write the pairs for retrieval and their samples: those of curation that people kept, or of a CSV file."""

from pathlib import Path

from benchc.atomic import write_text
from benchc.benchmarks.naturalbench.curation.retrieval_pairs import curated, read_retrieval_pairs
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.errors import InputError
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.printed import csv_text
from benchc.sources.report import report_frame, summary


def retrieval_pairs(
    *,
    curated_captions: Path | None = None,
    curated_pairs: Path | None = None,
    file: Path | None = None,
    images: Path | None = None,
    captions: Path,
    pairs: Path,
    report: Path,
) -> None:
    """Write the pairs for retrieval and their samples: those of curation that people kept, or of a CSV file.

    Args:
        curated_captions: curate/captions.parquet
        curated_pairs: curate/kept_pairs.parquet
        file: CSV file in place of these: pair, image_0, image_1, caption_0, caption_1
        images: folder of the images of the file
        captions: retrieval/captions.parquet to write
        pairs: retrieval/pairs.parquet to write
        report: report on rejected rows to write (CSV): id, line, kind, reason
    """
    if file is not None and images is not None:
        samples, rows, rejected = read_retrieval_pairs(file, images)
    elif file is None and curated_captions is not None and curated_pairs is not None:
        samples, rows = curated(read_table(curated_captions, CAPTIONS), read_table(curated_pairs, PAIRS))
        rejected = report_frame([])
    else:
        raise InputError("give --curated-captions and --curated-pairs, or --file and --images")
    print(summary("retrieval", rows.height, rejected, "pair"))
    write_text(report, csv_text(rejected))
    write_table(samples, captions, CAPTIONS)
    write_table(rows, pairs, PAIRS)
