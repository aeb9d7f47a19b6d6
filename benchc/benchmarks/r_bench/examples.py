"""What is shown of a pair: its images, its question, and the replies, judgements and scores of models."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.benchmarks.r_bench.schemas.pairs import PAIRS
from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.benchmarks.r_bench.tasks import KINDS, Task
from benchc.corruptions.recipe import CLEAN
from benchc.errors import InputError
from benchc.letters import LETTERS
from benchc.schemas.answers import ANSWERS
from benchc.schemas.parquet import REMAKE, TableType, read_footer, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.references import REFERENCES

JUDGED_BY_LETTER = "letter"
SCORE_COLUMNS = ("s_ref", "s_dis", "s_com", "absolute", "relative")


@dataclass(frozen=True)
class Answer:
    """A model's replies to a pair and what they are worth.

    Attributes:
        model: its label
        reference, distorted: the replies; None where the run does not have them
        judgements: by kind, the scores of all judgements or the letter's, as text
        scores: by SCORE_COLUMNS, in [0, 1]
    """

    model: str
    reference: str | None
    distorted: str | None
    judgements: Mapping[str, str]
    scores: Mapping[str, float]


@dataclass(frozen=True)
class Example:
    """A pair as it is shown; images are encoded.

    Attributes:
        options: with their letters, of mcq
        truths: the reference answers: the right option with its letter, one answer, or captions
    """

    id: str
    task: Task
    corruption: str
    severity: int
    question: str
    options: Sequence[str]
    truths: Sequence[str]
    reference: bytes
    distorted: bytes
    answers: Sequence[Answer]


def read_examples(
    pairs: Path,
    pool: Path,
    references: Path,
    answers: Sequence[Path],
    judge_scores: Sequence[Path],
    scores: Sequence[Path],
    labels: Mapping[str, str],
    wanted: pl.DataFrame | None = None,
) -> list[Example]:
    """Return the pairs in the order of the file, with the models in the order of ``labels``.

    Args:
        pairs: pairs.parquet.
        pool: pool/items.parquet.
        references: pool/references.parquet.
        answers: answers/{task}/{model}/{part}.parquet of the models whose replies the run has.
        judge_scores: judge_scores/{model}.parquet of all models that have them.
        scores: scores/{model}.parquet.
        labels: names of the models by id.
        wanted: id, corruption and severity of the pairs to return; None for all.
    """
    rows = read_table(pairs, PAIRS)
    if wanted is not None:
        rows = rows.join(wanted, on=["id", "corruption", "severity"], how="semi")
    ids = set(rows["id"])
    items = {row["id"]: row for row in _of_items(pool, POOL, ids, ("id", "question", "options", "answer"))}
    truths = {row["id"]: row for row in _of_items(references, REFERENCES, ids, None)}
    replies = _by_model(answers, ANSWERS, ids, ("id", "corruption", "severity", "reply"))
    judged = _by_model(judge_scores, JUDGE_SCORES, ids, None)
    scored = _by_model(scores, SCORES, ids, None)
    found = []
    for row in rows.iter_rows(named=True):
        item = items[row["id"]]
        # Items with options may be asked without them.
        given = item["options"] if row["task"] == "mcq" else []
        options = [f"{letter}. {text}" for letter, text in zip(LETTERS, given, strict=False)]
        truth = truths[row["id"]]
        own = [options[item["answer"]]] if options else truth["answers"] or [truth["truth"]]
        cell = (row["id"], row["corruption"], row["severity"])
        shown = [
            _answer(label, cell, replies.get(id_), judged.get(id_), scored[id_])
            for id_, label in labels.items()
            if id_ in scored
        ]
        found.append(
            Example(
                id=row["id"],
                task=row["task"],
                corruption=row["corruption"],
                severity=row["severity"],
                question=item["question"],
                options=options,
                truths=own,
                reference=row["reference"]["bytes"],
                distorted=row["distorted"]["bytes"],
                answers=[answer for answer in shown if answer is not None],
            )
        )
    return found


def judge_note(scores: Sequence[Path]) -> str:
    """Return a sentence where scores are by a rule; empty where they are not."""
    by_rule = any(read_footer(path).get("judge") == "rule" for path in scores)
    return "Rule judge, not comparable with the paper." if by_rule else ""


def _of_items(
    path: Path, table: TableType, ids: set[str], columns: Sequence[str] | None
) -> Iterable[dict[str, Any]]:
    return read_table(path, table, columns).filter(pl.col("id").is_in(ids)).iter_rows(named=True)


def _by_model(
    paths: Sequence[Path], table: TableType, ids: set[str], columns: Sequence[str] | None
) -> dict[str, pl.DataFrame]:
    parts: dict[str, list[pl.DataFrame]] = {}
    for path in paths:
        label = read_footer(path).get("label")
        if not isinstance(label, str):
            raise InputError(f"{path}: its footer names no model; {REMAKE}")
        parts.setdefault(label, []).append(read_table(path, table, columns).filter(pl.col("id").is_in(ids)))
    return {label: pl.concat(found) for label, found in parts.items()}


def _answer(
    label: str,
    cell: tuple[str, str, int],
    replies: pl.DataFrame | None,
    judged: pl.DataFrame | None,
    scored: pl.DataFrame,
) -> Answer | None:
    id_, corruption, severity = cell
    scores = scored.filter(id=id_, dimension=corruption, severity=severity)
    if scores.is_empty():
        return None
    return Answer(
        label,
        _reply(replies, id_, CLEAN, 0),
        _reply(replies, *cell),
        {} if judged is None else _judgements(judged.filter(id=id_), corruption, severity),
        scores.select(SCORE_COLUMNS).row(0, named=True),
    )


def _reply(replies: pl.DataFrame | None, id_: str, corruption: str, severity: int) -> str | None:
    if replies is None:
        return None
    found = replies.filter(id=id_, corruption=corruption, severity=severity)["reply"]
    return found[0] if found.len() else None


def _judgements(judged: pl.DataFrame, corruption: str, severity: int) -> dict[str, str]:
    """Return the judgements by kind, of an item's rows of JUDGE_SCORES; `?` for an unreadable one."""
    found: dict[str, str] = {}
    for kind in KINDS:
        place = (CLEAN, 0) if kind == "ref" else (corruption, severity)
        rows = judged.filter(kind=kind, corruption=place[0], severity=place[1]).sort("reference", "repeat")
        by_letter = (rows["judge"] == JUDGED_BY_LETTER).all()
        if not by_letter:
            # Its judgements count where a judge has read a letter as well.
            rows = rows.filter(pl.col("judge") != JUDGED_BY_LETTER)
        texts = [
            f"{score:g}" if readable else "?"
            for score, readable in rows.select("score", "readable").iter_rows()
        ]
        if texts:
            found[kind] = f"letter: {texts[0]}" if by_letter else " ".join(texts)
    return found
