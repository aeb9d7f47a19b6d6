"""Read the reference answers of a pool's items: the right option's text, or a source's answer."""

import argparse
from pathlib import Path

from benchc.pluralize import pluralize
from benchc.schemas.parquet import write_table
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.references import REFERENCES
from benchc.sources.references import AnswerFile, read_references
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    add = parser.add_argument
    add("--items", type=Path, required=True, help="pool/items.parquet")
    add(
        "--tsv",
        metavar="SOURCE=FILE",
        action="append",
        default=[],
        type=source_and_file,
        help="TSV of a source, read where the pool has open-ended questions of it; once per source",
    )
    add(
        "--annotations",
        metavar="SOURCE=FILE",
        action="append",
        default=[],
        type=source_and_file,
        help="VQAv2's annotations of a source, JSON or zip; once per source",
    )
    add("--output", type=Path, required=True, help="references.parquet to write")
    arguments = parser.parse_args()
    files = {source: AnswerFile("tsv", path) for source, path in arguments.tsv}
    files |= {source: AnswerFile("vqav2", path) for source, path in arguments.annotations}
    references = read_references(arguments.items, files)
    print(f"references: {pluralize(references.height, 'item')}")
    footer = {"pool": pool_digest(arguments.items, QUESTION_COLUMNS)}
    write_table(references, arguments.output, REFERENCES, footer)


def source_and_file(text: str) -> tuple[str, Path]:
    source, separator, path = text.partition("=")
    if not (separator and path):
        raise argparse.ArgumentTypeError(f"{text!r} is not SOURCE=FILE")
    return source, Path(path)


if __name__ == "__main__":
    run(main)
