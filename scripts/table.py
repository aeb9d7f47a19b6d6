"""Write a table: call the function with the name of MODULE with files and settings.

    python -m scripts.table benchc.benchmarks.NAME.tables.table2 --input scores one.parquet two.parquet \\
        --input models models.json --set centring='"none"' --output tables/table2

writes tables/table2.csv, .md and .tex.
"""

import sys

from benchc.atomic import write_text
from benchc.errors import InputError
from benchc.rendering.declaration import ENDINGS, TABLE_FORMATS
from benchc.rendering.output import Table
from scripts.command import run
from scripts.output_arguments import call_output, output_parser


def main() -> None:
    parser = output_parser(__spec__.name, __doc__)
    parser.add_argument(
        "--formats",
        nargs="+",
        choices=TABLE_FORMATS,
        default=TABLE_FORMATS[:3],
        help="files to write: OUTPUT.csv with all digits, OUTPUT.md, OUTPUT.tex, and OUTPUT_published.csv, "
        "which compares the values with the paper's; default: csv md tex",
    )
    arguments = parser.parse_args()
    table = call_output(arguments)
    if not isinstance(table, Table):
        raise InputError(f"{arguments.module} does not return a table; use scripts.figure for figures")
    texts = {
        "csv": table.frame.write_csv(),
        "md": table.markdown,
        "tex": table.latex,
        "published": None if table.published is None else table.published.write_csv(),
    }
    absent = [format for format in arguments.formats if not texts[format]]
    if absent:
        raise InputError(f"{arguments.module} has no format {absent[0]}; remove it from --formats")
    for format in arguments.formats:
        write_text(f"{arguments.output}{ENDINGS[format]}", texts[format] or "")
    print(table.summary or f"{table.frame.height:,} rows", file=sys.stderr)


if __name__ == "__main__":
    run(main)
