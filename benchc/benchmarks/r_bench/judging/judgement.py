"""A judgement, and the table of all of a model."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import polars as pl

from benchc.benchmarks.r_bench.judging.comparisons import Comparison
from benchc.benchmarks.r_bench.judging.letter import letter_score
from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES


class Judgement(NamedTuple):
    """One judgement.

    Attributes:
        score: 0 or 1 of mcq; 0, 1 or 2 of vqa and cap
        readable: whether it was found; without one, the score is 0
        request_key: hash of the request to a language model
    """

    score: float
    readable: bool = True
    request_key: str | None = None


# Yields the judgements of each comparison, at least one, in order.
Judge = Callable[[Sequence[Comparison]], Iterable[Sequence[Judgement]]]


def judged(comparisons: Sequence[Comparison], judge: Judge, name: str, *, always: bool) -> pl.DataFrame:
    """Return rows of JUDGE_SCORES, in the order of ``comparisons``.

    ``name``: of the judge; ``always``: whether it also judges replies that letters decide,
    whose letter is a judgement beside its own, which counts (metrics/item_scores.py).
    """
    letters = [
        letter_score(comparison) if comparison.item.task == "mcq" else None for comparison in comparisons
    ]
    asked = [always or score is None for score in letters]
    given = iter(judge([comparison for comparison, one in zip(comparisons, asked, strict=True) if one]))

    def rows() -> Iterator[tuple[object, ...]]:
        for comparison, score, one in zip(comparisons, letters, asked, strict=True):
            found = [] if score is None else [("letter", 0, Judgement(score))]
            if one:
                found += [(name, repeat, judgement) for repeat, judgement in enumerate(next(given))]
            item, corruption, severity, kind, reference, *_ = comparison
            for by, repeat, judgement in found:
                yield (item.id, item.task, corruption, severity, kind, reference, repeat, by, *judgement)

    return pl.DataFrame(list(rows()), schema=pl.Schema(JUDGE_SCORES.columns), orient="row")


def texts_of(comparisons: Iterable[Comparison]) -> list[str]:
    """Return the distinct texts of comparisons, sorted."""
    return sorted({text for each in comparisons for text in (each.reply, each.against)})
