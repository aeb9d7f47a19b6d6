"""Convert a source's data file to a table of items."""

from pathlib import Path

import polars as pl

from benchc.atomic import write_text
from benchc.command_line import SourceId
from benchc.errors import InputError
from benchc.schemas.items import ITEMS, ItemsFooter
from benchc.schemas.printed import csv_text
from benchc.schemas.row_groups import table_writer
from benchc.sources.reader_options import MOST_REJECTED, ReaderOptions
from benchc.sources.report import check_rejected, facts_frame, facts_text
from benchc.sources.report import summary as counts_text
from benchc.sources.vlmevalkit import opened_source


def read_source(
    *,
    tsv: Path,
    source: SourceId,
    reader: ReaderOptions | None = None,
    published: str | None = None,
    max_rejected: float = MOST_REJECTED,
    parquet: Path,
    report: Path,
    summary: Path | None = None,
    images: Path | None = None,
) -> None:
    """Convert a source's data file to a table of items, and report rejected rows.

    Args:
        tsv: file to read: a TSV in VLMEvalKit's format, or a csv, JSON Lines (.jsonl) or Parquet file
        source: id of the source; items are called <source>/<index>
        published: number of items as published, which is printed beside that of the items
        max_rejected: share of the rows, from 0 to 1, above which rejected ones stop the stage, which then
            writes <report>.failed.csv alone
        parquet: table of items to write
        report: report to write (CSV): id, line, kind, reason
        summary: summary to write (CSV): fact, name, count
        images: list of the items' images to write (CSV): id, image, image_key, width, height, pixels, the
            hash of the pixels
    """
    failed = report.with_suffix(".failed.csv")
    sizes = pl.col("images").list.eval(pl.element().struct.field("bytes").bin.size()).list.sum()
    with opened_source(tsv, source, reader, folder=parquet.parent) as found:
        print(counts_text(source, found.texts.height, found.report, published=published))
        try:
            check_rejected(tsv, found.report, found.rows, max_rejected, failed)
        except InputError:
            # A workflow removes the outputs of a job that fails.
            write_text(failed, csv_text(found.report))
            raise
        facts = facts_frame(found.texts, found.images, found.report, found.rows)
        print(facts_text(facts))
        failed.unlink(missing_ok=True)
        write_text(report, csv_text(found.report))
        for path, frame in ((summary, facts), (images, found.images)):
            if path is not None:
                write_text(path, csv_text(frame))
        with table_writer(parquet, ITEMS, sizes, ItemsFooter(source=source), compression="zstd") as writer:
            for items in found.frames():
                writer.append(items)
