"""Run a check to its end."""

from collections.abc import Generator
from typing import TypeVar

from benchc.checking.finding import Finding

Result = TypeVar("Result")


def collected(check: Generator[Finding, None, Result]) -> tuple[list[Finding], Result]:
    """Return what a check yields, and what it returns."""
    found = []
    while True:
        try:
            found.append(next(check))
        except StopIteration as end:
            return found, end.value


def lines(found: list[Finding], level: str | None = None) -> list[str]:
    """Return subject and text of the findings of a level, of all by default."""
    return [f"{each.subject}: {each.text}" for each in found if level in (None, each.level)]
