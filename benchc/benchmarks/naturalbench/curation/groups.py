"""Groups: a pair and a type with both questions kept."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from benchc.benchmarks.naturalbench.curation.questions import SLOT
from benchc.benchmarks.naturalbench.kinds import QuestionType


class Question(NamedTuple):
    """A kept question, with the round in which it was written."""

    question: str
    options: tuple[str, str]
    round: int


class Group(NamedTuple):
    """Two images and two questions with alternating answers.

    Args:
        id: 16 hex digits, a hash of pair and type.
    """

    id: str
    pair: str
    type: QuestionType
    method: str
    questions: tuple[Question, Question]


def group_id(pair: str, kind: str) -> str:
    return hashlib.blake2b(f"{pair}/{kind}".encode(), digest_size=8).hexdigest()


def groups_of(pairs: pl.DataFrame, rounds: Sequence[tuple[pl.DataFrame, pl.DataFrame]]) -> list[Group]:
    """Return the groups, sorted by id.

    ``rounds``: the questions (type QUESTIONS) and what people kept of them (KEPT), from round 0 on.
    """
    found: dict[tuple[str, QuestionType], dict[int, Question]] = {}
    for number, (questions, kept) in enumerate(rounds):
        whole = questions.join(kept.filter("kept"), on=SLOT, how="semi", maintain_order="left")
        for pair, kind, q_idx, text, *options in whole.select(
            *SLOT, "question", "answer_0", "answer_1"
        ).iter_rows():
            question = Question(text, (options[0], options[1]), number)
            found.setdefault((pair, kind), {}).setdefault(q_idx, question)
    methods: Mapping[str, str] = dict(pairs.select("pair", pl.col("method").cast(pl.String)).iter_rows())
    groups = [
        Group(group_id(pair, kind), pair, kind, methods[pair], (both[0], both[1]))
        for (pair, kind), both in found.items()
        if len(both) == 2
    ]
    return sorted(groups)
