"""A small pool of questions, as a file."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL, PoolFooter

Row = tuple[str, str]  # id and category


def write_pool(path: Path, rows: Sequence[Row], **columns: Sequence[object]) -> Path:
    """Write a pool of questions with the options w, x, y, z, of which the second is right; return its path.

    ``columns``: others than the usual ones, such as ``image_keys``.
    """
    count = len(rows)
    given = {
        "id": [id_ for id_, _ in rows],
        "source": [id_.partition("/")[0] for id_, _ in rows],
        "task": [category for _, category in rows],
        "question": ["Which?"] * count,
        "options": [["w", "x", "y", "z"]] * count,
        "answer": [1] * count,
        "category": [category for _, category in rows],
        "images": [[{"bytes": id_.encode(), "path": None}] for id_, _ in rows],
        "image_keys": [[f"{id_}#0"] for id_, _ in rows],
    } | columns
    empty = dict.fromkeys(POOL.columns, [None] * count)
    table = pl.DataFrame({**empty, **given}, schema=pl.Schema(POOL.columns))
    write_table(table, path, POOL, PoolFooter(cap=None))
    return path
