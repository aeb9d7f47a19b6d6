"""A claim of the Bench-C paper, and what became of it here."""

from dataclasses import dataclass

HOLDS = "holds"
FAILS = "does not hold"
NOT_APPLICABLE = "not applicable"
VERDICTS = (HOLDS, FAILS, NOT_APPLICABLE)


@dataclass(frozen=True)
class Finding:
    """The numbers of a run for one claim, or why there are none, and the verdict (one of ``VERDICTS``)."""

    numbers: str
    verdict: str


@dataclass(frozen=True)
class Claim:
    """What the paper says, where, with which numbers; the criterion of the check, and what it found."""

    section: str
    claim: str
    criterion: str
    paper: str
    finding: Finding


def judged(holds: bool, numbers: str) -> Finding:
    """Return the finding of a check that could be made."""
    return Finding(numbers, HOLDS if holds else FAILS)


def not_applicable(reason: str) -> Finding:
    """Return the finding where the run lacks what the claim is about."""
    return Finding(reason, NOT_APPLICABLE)
