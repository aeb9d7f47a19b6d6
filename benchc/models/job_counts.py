"""The last line of an inference job's log: the number of its predictions or answers, cached and computed."""

import re
from typing import Literal

Rows = Literal["predictions", "answers"]

PATTERN = re.compile(r"([\d,]+) (?:predictions|answers), [\d,]+ from the cache, ([\d,]+) computed")


def counts_text(rows: int, noun: Rows, cached: int, computed: int) -> str:
    """Return the counts in the form that :func:`job_counts` parses."""
    return f"{rows:,} {noun}, {cached:,} from the cache, {computed:,} computed"


def job_counts(log: str) -> tuple[int, int]:
    """Return the number of a job's rows, and of those that it computed; 0 if it did not finish."""
    found = PATTERN.findall(log) or [("0", "0")]
    rows, computed = (int(text.replace(",", "")) for text in found[-1])
    return rows, computed
