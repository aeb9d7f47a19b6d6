"""Read the reference answers of a pool's items."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from benchc.command_line import Json
from benchc.pluralize import pluralize
from benchc.schemas.footer import ImageFooter
from benchc.schemas.parquet import write_table
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.references import REFERENCES
from benchc.sources.references import AnswerFile, read_references


def references(*, pool: Path, files: Annotated[Mapping[str, AnswerFile], Json], output: Path) -> None:
    """Read the reference answers of a pool's items: the right option's text, or a source's answer.

    Args:
        pool: pool/items.parquet
        files: the file with the answers of each source, such as {"my": {"path": "my.tsv", "lists": false}},
            which is read where the pool has open-ended questions of the source; lists: its answers are lists;
            columns: its names of standard columns
        output: references.parquet to write
    """
    found = read_references(pool, files)
    print(f"references: {pluralize(found.height, 'item')}")
    footer = ImageFooter(pool=pool_digest(pool, QUESTION_COLUMNS))
    write_table(found, output, REFERENCES, footer)
