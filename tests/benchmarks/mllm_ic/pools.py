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
    plain = dict.fromkeys(POOL.columns) | {"question": "Which?", "options": ["w", "x", "y", "z"], "answer": 1}
    table = pl.DataFrame(
        [
            {
                **(
                    plain
                    | {"id": id_, "source": id_.partition("/")[0], "task": category, "category": category}
                ),
                **{"images": [{"bytes": id_.encode(), "path": None}], "image_keys": [f"{id_}#0"]},
            }
            for id_, category in rows
        ],
        schema=pl.Schema(POOL.columns),
    )
    given = [pl.Series(name, values, POOL.columns[name]) for name, values in columns.items()]
    write_table(table.with_columns(given), path, POOL, PoolFooter(cap=None))
    return path
