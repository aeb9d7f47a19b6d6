"""The last line of an inference job's log: how many predictions it has and where they come from."""

import re

PATTERN = re.compile(r"([\d,]+) predictions, [\d,]+ from the cache, ([\d,]+) computed")


def counts_text(predictions: int, cached: int, computed: int) -> str:
    """Return the counts in the form that :func:`job_counts` parses."""
    return f"{predictions:,} predictions, {cached:,} from the cache, {computed:,} computed"


def job_counts(log: str) -> tuple[int, int]:
    """Return how many predictions a job has and how many of them it computed; 0 where it did not finish."""
    found = PATTERN.findall(log) or [("0", "0")]
    predictions, computed = (int(text.replace(",", "")) for text in found[-1])
    return predictions, computed
