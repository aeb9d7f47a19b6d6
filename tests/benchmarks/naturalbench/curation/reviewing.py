"""Small questions and their reviews."""

from collections.abc import Mapping

import polars as pl

from benchc.benchmarks.naturalbench.curation.review_rows import Row, question_rows
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS
from benchc.benchmarks.naturalbench.schemas.reviewed import REVIEWED
from tests.benchmarks.made import frame_of
from tests.benchmarks.naturalbench.drawn import sample

SAMPLES = {f"p{n}": (sample(f"a{n}", f"dog {n}"), sample(f"b{n}", f"cat {n}")) for n in range(4)}


def questions(*slots: tuple[str, str, int], unusable: tuple[str, str, int] | None = None) -> pl.DataFrame:
    """Return usable questions of type QUESTIONS, but for one."""
    rows = []
    for pair, kind, q_idx in slots:
        ok = (pair, kind, q_idx) != unusable
        texts = (f"{pair} {kind} {q_idx}?", *(("Yes", "No") if kind == "yes_no" else ("dog", "cat")))
        given = (*texts, ok, None) if ok else (None, None, None, ok, "the reply is not JSON")
        rows.append((pair, kind, q_idx, *given, "r", "t"))
    return frame_of(QUESTIONS, rows)


def rows_of(table: pl.DataFrame, round_: int = 0) -> list[Row]:
    return question_rows(table, SAMPLES, round_)


def reviewed(rows: list[Row], answers: Mapping[str, list[int]]) -> pl.DataFrame:
    """Return reviews of type REVIEWED: for each annotator the answer to each row, in order."""
    found = [
        (row.id, row.pair, row.type, row.q_idx, row.i_idx, annotator, answer, row.expected)
        for annotator, given in answers.items()
        for row, answer in zip(rows, given, strict=True)
    ]
    return frame_of(REVIEWED, found)
