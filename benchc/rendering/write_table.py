"""Write the files of a table."""

import sys
from pathlib import Path
from typing import Literal

from benchc.atomic import write_text
from benchc.errors import InputError
from benchc.rendering.declaration import ENDINGS
from benchc.rendering.output import Table
from benchc.schemas.printed import csv_text

Format = Literal["csv", "md", "tex", "published"]


def write(result: Table, *, prefix: Path, formats: tuple[Format, ...] = ("csv", "md", "tex")) -> None:
    """Write the files of a table.

    Args:
        prefix: path to write to, without the suffix
        formats: PREFIX.csv with all digits, PREFIX.md, PREFIX.tex, and PREFIX_published.csv, which compares
            the values with the paper's
    """
    texts = {
        "csv": csv_text(result.frame),
        "md": result.markdown,
        "tex": result.latex,
        "published": None if result.published is None else csv_text(result.published),
    }
    absent = [format for format in formats if not texts[format]]
    if absent:
        raise InputError(f"{prefix.name}: has no format {absent[0]}; remove it from --formats")
    for format in formats:
        write_text(f"{prefix}{ENDINGS[format]}", texts[format] or "")
    print(result.summary or f"{result.frame.height:,} rows", file=sys.stderr)
