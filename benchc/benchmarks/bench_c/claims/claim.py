"""A claim of the Bench-C paper, and the verdict on it."""

from dataclasses import dataclass

HOLDS = "holds"
FAILS = "does not hold"
NOT_APPLICABLE = "not applicable"
VERDICTS = (HOLDS, FAILS, NOT_APPLICABLE)


@dataclass(frozen=True)
class Finding:
    """The numbers of a run for a claim, or why there are none, and the verdict (one of ``VERDICTS``)."""

    numbers: str
    verdict: str


@dataclass(frozen=True)
class Claim:
    """A claim with its section and numbers in the paper, the criterion of the check, and its finding."""

    section: str
    claim: str
    criterion: str
    paper: str
    finding: Finding


def judged(holds: bool, numbers: str) -> Finding:
    """Return the finding of a check that applies."""
    return Finding(numbers, HOLDS if holds else FAILS)


def not_applicable(reason: str) -> Finding:
    """Return the finding where the run lacks what the claim is about."""
    return Finding(reason, NOT_APPLICABLE)
