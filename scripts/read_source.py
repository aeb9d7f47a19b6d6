"""Convert a source's TSV in VLMEvalKit's format to a table of items, and report rejected rows."""

import argparse
from pathlib import Path

from benchc.atomic import write_text
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import write_table
from benchc.sources.report import summary
from benchc.sources.vlmevalkit import ReaderOptions, read_vlmevalkit
from scripts.argument_types import source_argument
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument("--tsv", type=Path, required=True, help="file to read")
    parser.add_argument(
        "--source",
        required=True,
        type=source_argument,
        help="id of the source; items are called <source>/<index>",
    )
    parser.add_argument(
        "--options-column", help="column with all options as a Python list of strings such as '(A) red'"
    )
    parser.add_argument("--index-below", type=int, help="omit rows with this index or a larger one")
    parser.add_argument(
        "--image-column",
        help="column with the name of the row's image, or a Python list of names; equal names share an image",
    )
    parser.add_argument(
        "--exclude",
        metavar="COLUMN=VALUE",
        action="append",
        default=[],
        type=_column_and_value,
        help="omit rows with this value in this column; once per column",
    )
    parser.add_argument(
        "--task-column",
        choices=["category", "l2_category"],
        help="column with the task type; rows without one are rejected, since the pool is balanced by it",
    )
    parser.add_argument(
        "--answer-words",
        action="store_true",
        help="the answers are Yes and No, or letters A and B of options in the question's text",
    )
    parser.add_argument("--category-column", help="column with the category, if it is not called category")
    parser.add_argument("--output", type=Path, required=True, help="table of items to write (Parquet)")
    parser.add_argument(
        "--report", type=Path, required=True, help="report to write (CSV): id, line, kind, reason"
    )
    arguments = parser.parse_args()
    options = ReaderOptions(
        arguments.options_column,
        arguments.index_below,
        dict(arguments.exclude),
        arguments.image_column,
        arguments.task_column,
        arguments.answer_words,
        arguments.category_column,
    )
    items, report = read_vlmevalkit(arguments.tsv, arguments.source, options)
    print(summary(arguments.source, items.height, report))
    write_text(arguments.report, report.write_csv())
    write_table(items, arguments.output, ITEMS, {"source": arguments.source})


def _column_and_value(text: str) -> tuple[str, str]:
    column, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMN=VALUE")
    return column, value


if __name__ == "__main__":
    run(main)
