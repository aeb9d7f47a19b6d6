"""Convert a source's TSV in VLMEvalKit's format to a table of items."""

from pathlib import Path

from benchc.atomic import write_text
from benchc.command_line import SourceId
from benchc.schemas.items import ITEMS, ItemsFooter
from benchc.schemas.parquet import write_table
from benchc.sources.reader_options import ReaderOptions
from benchc.sources.report import summary
from benchc.sources.vlmevalkit import read_vlmevalkit


def read_source(
    *,
    tsv: Path,
    source: SourceId,
    reader: ReaderOptions | None = None,
    published: str | None = None,
    parquet: Path,
    report: Path,
) -> None:
    """Convert a source's TSV in VLMEvalKit's format to a table of items, and report rejected rows.

    Args:
        tsv: file to read
        source: id of the source; items are called <source>/<index>
        published: number of items as published, which is printed beside that of the items
        parquet: table of items to write
        report: report to write (CSV): id, line, kind, reason
    """
    items, rejected = read_vlmevalkit(tsv, source, reader)
    print(summary(source, items.height, rejected, published=published))
    write_text(report, rejected.write_csv())
    write_table(items, parquet, ITEMS, ItemsFooter(source=source))
