"""Grades of small runs, as frames and as files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from benchc.images import encode_png
from benchc.schemas.grades import GRADES
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import CLEAN
from tests.footers import footer_of

LEVELS = range(1, 6)


def grades(right: np.ndarray, corruptions: Sequence[str], ids: Sequence[str]) -> pl.DataFrame:
    """Return the GRADES table of one model.

    ``right``: float[corruptions, 6, items]; level 0 is that of the first corruption. A wrong answer is empty
    if its item is the first, cut off if it is the second, and withheld if it is the third.
    """
    cells = [(CLEAN, 0, right[0, 0])]
    cells += [(name, level, right[c, level]) for c, name in enumerate(corruptions) for level in LEVELS]
    rows = [
        {
            "id": id_,
            "corruption": corruption,
            "severity": level,
            "reply": "yes" if value else "",
            "exact": bool(value == 1),
            "normalised": bool(value > 0),
            "soft": float(value),
            "finish": "stop" if value else ("stop", "length", "content_filter")[item % 3],
            "empty": bool(not value and item == 0),
        }
        for corruption, level, values in cells
        for item, (id_, value) in enumerate(zip(ids, values, strict=True))
    ]
    return pl.DataFrame(rows, schema=dict(GRADES.columns))


def write_grades(folder: Path, tables: Mapping[str, pl.DataFrame], **facts: object) -> list[Path]:
    """Write the tables of models by id, with footers as the stage writes them; return their paths."""
    paths = []
    for id_, table in tables.items():
        paths.append(folder / f"grades/{id_}.parquet")
        footer = {"label": id_, "pool": "p", "seed": 1, "alpha": "drop"} | facts
        write_table(table, paths[-1], GRADES, footer_of(footer))
    return paths


def pool_of(
    ids: Sequence[str], images: Sequence[Sequence[str]] = (), categories: Sequence[str | None] = ()
) -> pl.DataFrame:
    """Return a POOL table of open questions with these image keys and categories."""
    keys = [list(of_item) for of_item in images] or [[f"{id_}#0"] for id_ in ids]
    return pl.DataFrame(
        {
            "id": ids,
            "source": ["s"] * len(ids),
            "task": ["t"] * len(ids),
            "question": ["?"] * len(ids),
            "hint": [None] * len(ids),
            "options": [[]] * len(ids),
            "answer": [None] * len(ids),
            "category": list(categories) or ["what"] * len(ids),
            "l2_category": ["other"] * len(ids),
            "images": [[{"bytes": b"", "path": None}] * len(of_item) for of_item in keys],
            "image_keys": keys,
        },
        schema=dict(POOL.columns),
    )


def write_pool(path: Path, questions: pl.DataFrame, picture: np.ndarray) -> Path:
    """Write a pool in which each question is about one picture, all with the same pixels."""
    image = {"bytes": encode_png(picture), "path": None}
    images = pl.Series("images", [[image]] * questions.height, dtype=POOL.columns["images"])
    write_table(questions.with_columns(images), path, POOL)
    return path
