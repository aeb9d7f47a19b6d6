"""Convert VQAv2's own files to a table of items."""

from pathlib import Path

from benchc.atomic import write_text
from benchc.command_line import PositiveInt, SourceId
from benchc.schemas.items import ITEMS, ItemsFooter
from benchc.schemas.parquet import write_table
from benchc.sources.report import summary
from benchc.sources.vqav2 import Vqav2Files
from benchc.sources.vqav2 import read_vqav2 as read_files


def read_vqav2(
    *,
    questions: Path,
    annotations: Path,
    images: Path,
    source: SourceId,
    take_images: PositiveInt | Path | None = None,
    parquet: Path,
    report: Path,
) -> None:
    """Convert VQAv2's own files to a table of items, and report questions that cannot become items.

    Args:
        questions: JSON file of the questions as published, or its zip
        annotations: JSON file of the annotations, or its zip
        images: folder of the images, or their zip, which is not unpacked
        source: id of the source; items are called <source>/<question id>
        take_images: how many images to take, with all their questions, or a file with their ids or names, one
            per line; default: all whose files are there
        parquet: table of items to write
        report: report to write (CSV): id, line, kind, reason
    """
    items, rejected = read_files(Vqav2Files(questions, annotations, images), source, take_images)
    print(summary(source, items.height, rejected))
    write_text(report, rejected.write_csv())
    write_table(items, parquet, ITEMS, ItemsFooter(source=source))
