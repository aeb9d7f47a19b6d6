"""The best answer to all questions: what a model that never looks at an image can have."""

from collections import Counter, defaultdict

import polars as pl

from benchc.errors import InputError
from benchc.judges.short_answer import normalised
from benchc.schemas.parquet import REMAKE


def best_constant(references: pl.DataFrame, grade: str) -> tuple[str, float]:
    """Return the answer that has the largest mean grade over all questions, and that mean, in [0, 1].

    ``references``: rows of REFERENCES; ``grade``: exact, normalised or soft, as in GRADES. All answers that
    have a grade above 0 for a question are candidates; of equal means, the first in alphabetical order is
    taken. Raises InputError where there is no question, and for soft where one has one reference answer.
    """
    totals: defaultdict[str, float] = defaultdict(float)
    for id_, truth, answers in references.select("id", "truth", "answers").iter_rows():
        if grade == "soft":
            if len(answers) < 2:
                raise InputError(f"{id_} has one reference answer, so no soft grade; choose another grade")
            for answer, matches in Counter(map(_form, answers)).items():
                totals[answer] += _soft(matches, len(answers))
        else:
            totals[truth.strip() if grade == "exact" else _form(truth)] += 1
    if not totals:
        raise InputError(f"there are no reference answers; {REMAKE}")
    answer = min(totals, key=lambda answer: (-totals[answer], answer))
    return answer, totals[answer] / references.height


def _form(answer: str) -> str:
    """Return what the answers that agree with each other have in common."""
    return normalised(answer) or answer.strip().lower()


def _soft(matches: int, annotators: int) -> float:
    """Return VQA accuracy of an answer that ``matches`` of the annotators give (leave-one-out mean)."""
    theirs = matches * min((matches - 1) / 3, 1.0)
    others = (annotators - matches) * min(matches / 3, 1.0)
    return (theirs + others) / annotators
