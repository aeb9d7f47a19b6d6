"""Whether claims of a paper hold on a run, and how many do."""

import polars as pl

HOLDS, FAILS, UNKNOWN, NOT_APPLICABLE = "holds", "does not hold", "cannot be told", "not applicable"


def counts_of(verdicts: pl.Series) -> str:
    """Return how many of the claims have each verdict: "2 of 4 hold, 1 does not, 1 is not applicable"."""
    found = {verdict: int((verdicts == verdict).sum()) for verdict in verdicts}
    parts = [f"{found.get(HOLDS, 0)} of {len(verdicts)} {'holds' if found.get(HOLDS) == 1 else 'hold'}"]
    for verdict, one, several in (
        (FAILS, "does not", "do not"),
        (UNKNOWN, "cannot be told", "cannot be told"),
        (NOT_APPLICABLE, "is not applicable", "are not applicable"),
    ):
        if verdict in found:
            parts.append(f"{found[verdict]} {one if found[verdict] == 1 else several}")
    return ", ".join(parts)
