"""Convert a data set of several files to a TSV in VLMEvalKit's format."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from benchc.command_line import Json, PositiveInt
from benchc.pluralize import pluralize
from benchc.sources.conversion import convert
from benchc.sources.formats import Format


def convert_source(
    *,
    format: Format,
    files: Annotated[Mapping[str, Path], Json],
    take_images: PositiveInt | Path | None = None,
    output: Path,
) -> None:
    """Convert a data set of several files to a TSV in VLMEvalKit's format.

    Args:
        format: whose files they are
        files: files by name, such as {"questions": "q.json", "annotations": "a.json", "images": "val2014"}:
            as published, or zips, which are not unpacked; images may be a folder
        take_images: how many images to take, with all their questions, or a file with their ids or names, one
            per line; default: all whose files are there
        output: TSV file to write
    """
    rows = convert(format, files, take_images, output)
    print(f"{output}: {pluralize(rows, 'question')}")
