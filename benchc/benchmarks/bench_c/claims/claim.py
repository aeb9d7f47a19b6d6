"""A claim of the Bench-C paper, its check, and the verdict on it."""

from collections.abc import Callable
from typing import NamedTuple

from benchc.benchmarks.bench_c.claims.evidence import Evidence
from benchc.rendering.verdicts import FAILS, HOLDS, NOT_APPLICABLE

FIGURE = "a figure, without numbers"
CHECKED = "{}"


class Finding(NamedTuple):
    """The numbers of a run for a claim, or why there are none, and one of the verdicts."""

    numbers: str
    verdict: str


class Claim(NamedTuple):
    """A claim with its section in the paper, the criterion of its check, and the paper's numbers.

    ``{example}`` in the criterion is the cell of figure 4, and ``CHECKED`` in the paper's numbers those that
    the check finds in the paper's own tables.
    """

    section: str
    text: str
    criterion: str
    paper: str
    check: Callable[[Evidence], Finding]


def judged(holds: bool, numbers: str) -> Finding:
    """Return the finding of a check that applies."""
    return Finding(numbers, HOLDS if holds else FAILS)


def not_applicable(reason: str) -> Finding:
    """Return the finding where the run lacks what the claim is about."""
    return Finding(reason, NOT_APPLICABLE)
