"""Files of a run that a benchmark's samples are read from."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchc.schemas.footer import ImageFooter
from benchc.schemas.page_items import PAGE_ITEMS
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL, PoolFooter
from benchc.schemas.references import REFERENCES
from benchc.schemas.subset import SampleFooter


def write_items(
    folder: Path,
    options: Sequence[Sequence[str]],
    *,
    answers: Sequence[int | None],
    groups: Sequence[str] = (),
) -> tuple[Path, Path]:
    """Write the items s/0, s/1, ... of a pool, all of them chosen, and return both files."""
    ids = [f"s/{number}" for number in range(len(options))]
    nothing: list[None] = [None] * len(ids)
    pool = pl.DataFrame(
        {
            "id": ids,
            "source": ["s"] * len(ids),
            "task": ["count"] * len(ids),
            "question": [f"Question {id_}?" for id_ in ids],
            "hint": nothing,
            "options": options,
            "answer": answers,
            "category": nothing,
            "l2_category": nothing,
            "images": [[{"bytes": b"", "path": None}]] * len(ids),
            "image_keys": [[f"{id_}#0"] for id_ in ids],
        },
        schema=dict(POOL.columns),
    )
    write_table(pool, folder / "items.parquet", POOL, PoolFooter(cap=None))
    chosen = pl.DataFrame({"id": ids, "sample": [*groups] or ids})
    write_table(chosen, folder / "chosen.parquet", PAGE_ITEMS, SampleFooter(candidates=9))
    return folder / "chosen.parquet", folder / "items.parquet"


def write_references(folder: Path, truths: Sequence[str], answers: Sequence[Sequence[str]]) -> Path:
    ids = [f"s/{number}" for number in range(len(truths))]
    frame = pl.DataFrame({"id": ids, "truth": truths, "answers": answers}, schema=dict(REFERENCES.columns))
    write_table(frame, folder / "references.parquet", REFERENCES, ImageFooter(pool="x"))
    return folder / "references.parquet"
