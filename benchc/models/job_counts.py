"""The last line of an inference job's log: the number of its predictions, cached and computed."""

import re

PATTERN = re.compile(r"([\d,]+) predictions, [\d,]+ from the cache, ([\d,]+) computed")


def counts_text(predictions: int, cached: int, computed: int) -> str:
    """Return the counts in the form that :func:`job_counts` parses."""
    return f"{predictions:,} predictions, {cached:,} from the cache, {computed:,} computed"


def job_counts(log: str) -> tuple[int, int]:
    """Return the number of a job's predictions, and of those that it computed; 0 if it did not finish."""
    found = PATTERN.findall(log) or [("0", "0")]
    predictions, computed = (int(text.replace(",", "")) for text in found[-1])
    return predictions, computed
