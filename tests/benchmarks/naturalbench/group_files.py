"""Small TSVs of groups, and the pools of them."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.sources.pool import assemble, choose, task_types
from benchc.sources.vlmevalkit import ReaderOptions, read_vlmevalkit
from tests.sources.tsv_files import encoded, image_bytes, write_tsv

PLACES = ((0, 0), (0, 1), (1, 0), (1, 1))
ANSWERS = "ABBA"


def group(
    name: str, first: int, answers: str = ANSWERS, options: Sequence[str] = ("Yes", "No"), **values: str
) -> list[dict[str, str]]:
    """Return the rows of a group in order; ``first``: index of the first, which also gives the images."""
    common = {"group": name, "A": options[0], "B": options[1]}
    common["category"] = "yes_no" if options[0] == "Yes" else "multiple_choice"
    return [
        {
            **{"index": str(first + number), "image": encoded(image_bytes((first % 251, 100 * i, 0)))},
            **{"question": f"Is it {name} {q}?", "answer": answers[number], **common},
            **{"q_idx": str(q), "img_idx": str(i), "image_file": f"{first}-{i}.png", **values},
        }
        for number, (q, i) in enumerate(PLACES)
    ]


OPTIONS = ReaderOptions(image_column="image_file")


def write_pool(
    folder: Path, rows: Sequence[dict[str, str]], source: str = "nb", options: ReaderOptions = OPTIONS
) -> tuple[Path, Path]:
    """Write a TSV and the pool of it; return both paths."""
    tsv = write_tsv(folder / f"{source}.tsv", rows)
    items = read_vlmevalkit(tsv, source, options)[0]
    return tsv, pool_of(folder, **{source: items})


def pool_of(folder: Path, **sources: pl.DataFrame) -> Path:
    """Write the pool of all items of some sources."""
    choice = choose(task_types(sources, dict.fromkeys(sources, "category")), None, None)
    write_table(assemble(choice, sources), folder / "pool.parquet", POOL)
    return folder / "pool.parquet"
