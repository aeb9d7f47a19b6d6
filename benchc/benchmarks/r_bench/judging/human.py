"""Judgements of people, in a CSV file."""

import operator
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchc.benchmarks.r_bench.judging.comparisons import Comparison
from benchc.benchmarks.r_bench.judging.judgement import Judgement
from benchc.benchmarks.r_bench.judging.prompts import SCORES
from benchc.csv_rows import read_rows
from benchc.errors import InputError
from benchc.pluralize import pluralize

COLUMNS = ("model", "id", "corruption", "severity", "kind", "reference", "score")

FORMS = {
    "severity": ("0|[1-9][0-9]*", "a whole number, 0 for clean"),
    "kind": ("dis|ref|com", "dis, ref or com"),
    "reference": ("0|[1-9][0-9]*", "a whole number, from 0"),
}

Key = tuple[str, ...]


def read_people(path: Path, model: str) -> Mapping[Key, list[str]]:
    """Return the scores of one model's replies as texts, by the texts of id to reference.

    Several rows of a comparison are several people's. Raises InputError where the file cannot be read, and,
    with the row, for a kind or number that no comparison has.
    """
    found: defaultdict[Key, list[str]] = defaultdict(list)
    for number, row in read_rows(path, COLUMNS):
        for name, (pattern, expected) in FORMS.items():
            if re.fullmatch(pattern, row[name]) is None:
                raise InputError(f"{path}: row {number}: {name} is {row[name]!r}; it should be {expected}")
        if row["model"] == model:
            found[tuple(row[name] for name in COLUMNS[1:-1])].append(row["score"])
    return found


def human_judge(
    comparisons: Sequence[Comparison],
    scores: Mapping[Key, list[str]],
    path: Path,
    model: str,
    known: Iterable[Comparison],
) -> list[list[Judgement]]:
    """Return the judgements of each comparison of ``model``.

    ``known``: also those that a letter decides. Prints a note where there are scores of others, as a misspelt
    id has, or fewer of some than of the rest. Raises InputError where one has none, or a score is none of the
    task's.
    """
    found: list[list[Judgement]] = []
    counts: dict[str, int] = {}
    keys = set(map(_key, known))
    others = [key for key in scores if key not in keys]
    for comparison in comparisons:
        item, corruption, severity, kind, reference, *_ = comparison
        where = f"{item.id} under {corruption} at severity {severity}, kind {kind}, reference {reference}"
        key = _key(comparison)
        texts = scores.get(key)
        if not texts:
            near = [other for other in others if sum(map(operator.ne, other, key)) == 1]
            other = f", or correct that of {', '.join(near[0])}, which is not in the run" if near else ""
            raise InputError(f"{path}: has no score of model {model} of {where}; add a row{other}")
        allowed = [str(score) for score in SCORES[item.task]]
        if wrong := [text for text in texts if text not in allowed]:
            raise InputError(
                f"{path}: the score of {where} is {wrong[0]!r}; correct it to one of {', '.join(allowed)}"
            )
        counts[where] = len(texts)
        found.append([Judgement(float(text)) for text in texts])
    if others:
        print(
            f"note: {path}: scores of model {model} of {pluralize(len(others), 'comparison')} that the run "
            f"does not have, not used, such as of {', '.join(others[0])}",
            file=sys.stderr,
        )
    if len({*counts.values()}) > 1:
        most = max(counts.values())
        short = [where for where, count in counts.items() if count < most]
        has = "has" if len(short) == 1 else "have"
        print(
            f"note: {path}: {len(short):,} of {pluralize(len(counts), 'comparison')} of model {model} {has} "
            f"fewer than {most} scores, such as {short[0]} ({counts[short[0]]})",
            file=sys.stderr,
        )
    return found


def _key(comparison: Comparison) -> Key:
    item, corruption, severity, kind, reference, *_ = comparison
    return item.id, corruption, str(severity), kind, str(reference)
