"""Grades of small runs, as frames and as files."""

from collections.abc import Mapping, Sequence
from itertools import product
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
    unfinished = ("stop", "length", "content_filter")
    rows = [
        (
            *(id_, corruption, level, "yes" if value else ""),
            *(bool(value == 1), bool(value > 0), float(value)),
            *("stop" if value else unfinished[item % 3], bool(not value and item == 0)),
        )
        for corruption, level, values in cells
        for item, (id_, value) in enumerate(zip(ids, values, strict=True))
    ]
    return pl.DataFrame(rows, schema=dict(GRADES.columns), orient="row")


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
    same = {"source": "s", "task": "t", "question": "?", "hint": None, "options": [], "answer": None}
    rows = [
        {
            **{"id": id_, "category": category, "image_keys": own, "l2_category": "other"},
            "images": [{"bytes": b"", "path": None}] * len(own),
        }
        for id_, own, category in zip(ids, keys, categories or ["what"] * len(ids), strict=True)
    ]
    return pl.DataFrame([same | row for row in rows], schema=dict(POOL.columns))


def write_pool(path: Path, questions: pl.DataFrame, picture: np.ndarray) -> Path:
    """Write a pool in which each question is about one picture, all with the same pixels."""
    image = {"bytes": encode_png(picture), "path": None}
    images = pl.Series("images", [[image]] * questions.height, dtype=POOL.columns["images"])
    write_table(questions.with_columns(images), path, POOL)
    return path


def write_other_errors(path: Path, rows: int = 12) -> Path:
    """Write errors of a model under two corruptions, by which others are scaled."""
    places = product((0, 1), range(6))
    cells = [(n, level, 0.1 + (0.1 + 0.03 * n) * level + 0.05 * n * (level > 0)) for n, level in places]
    lines = [f"p,{'xy'[n]},{level},{error}" for n, level, error in cells]
    path.write_text("\n".join(["model,corruption,level,error", *lines[:rows]]))
    return path
