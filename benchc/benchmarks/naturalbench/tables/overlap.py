"""What a release shares with older ones."""

from pathlib import Path

import polars as pl

from benchc.benchmarks.naturalbench.curation.content import Contents, read_contents
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

CAPTION = (
    "What the release shares with older ones: images that are equal pixel for pixel, questions with the same "
    "words and options, and groups with the same images and questions. Share is that of the release's own. "
    "A copy of an image that was scaled or compressed again is not found."
)


def overlap(release: Path, older: list[Path]) -> Table:
    """Return counts of shared images, questions and groups by older release."""
    own = read_contents(release)
    frame = pl.concat(overlap_rows(own, str(path), read_contents(path)) for path in older)
    columns = [
        Column("older", "Older release"),
        Column("kind", "What"),
        Column("own", "In this"),
        Column("theirs", "In the older"),
        Column("shared", "Shared"),
        Column("share", "Share"),
    ]
    return printed(frame, columns, caption=CAPTION, label="release-overlap")


def overlap_rows(own: Contents, name: str, theirs: Contents) -> pl.DataFrame:
    """Return one row each for images, questions and groups."""
    rows = [
        {
            "older": name,
            "kind": kind,
            "own": len(ours),
            "theirs": len(others),
            "shared": len(ours & others),
            "share": len(ours & others) / len(ours),
        }
        for kind, ours, others in zip(Contents._fields, own, theirs, strict=True)
    ]
    return pl.DataFrame(rows)
