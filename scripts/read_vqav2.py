"""Convert VQAv2's own files to a table of items, and report questions that cannot become items."""

from pathlib import Path

from benchc.atomic import write_text
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import write_table
from benchc.sources.report import summary
from benchc.sources.vqav2 import Vqav2Files, read_vqav2
from scripts.argument_types import positive_argument, source_argument
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    add = parser.add_argument
    add("--questions", type=Path, required=True, help="JSON file of the questions as published, or its zip")
    add("--annotations", type=Path, required=True, help="JSON file of the annotations, or its zip")
    add(
        "--images", type=Path, required=True, help="folder of the images, or their zip, which is not unpacked"
    )
    add(
        "--source",
        required=True,
        type=source_argument,
        help="id of the source; items are called <source>/<question id>",
    )
    add(
        "--take-images",
        type=number_or_file,
        help="how many images to take, with all their questions, or a file with their ids or names, one per "
        "line; default: all whose files are there",
    )
    add("--output", type=Path, required=True, help="table of items to write (Parquet)")
    add("--report", type=Path, required=True, help="report to write (CSV): id, line, kind, reason")
    arguments = parser.parse_args()
    files = Vqav2Files(arguments.questions, arguments.annotations, arguments.images)
    items, report = read_vqav2(files, arguments.source, arguments.take_images)
    print(summary(arguments.source, items.height, report))
    write_text(arguments.report, report.write_csv())
    write_table(items, arguments.output, ITEMS, {"source": arguments.source})


def number_or_file(text: str) -> int | Path:
    return positive_argument(text) if text.isdecimal() else Path(text)


if __name__ == "__main__":
    run(main)
