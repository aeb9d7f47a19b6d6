"""All claims of the Bench-C paper that its results make, as a table."""

import polars as pl

from benchc.benchmarks.bench_c.claims.claim import CHECKED
from benchc.benchmarks.bench_c.claims.evidence import Evidence, published_evidence
from benchc.benchmarks.bench_c.claims.gains import GAINS, SEVERITY
from benchc.benchmarks.bench_c.claims.groups import GROUPS
from benchc.benchmarks.bench_c.claims.ranking import RANKING
from benchc.benchmarks.bench_c.claims.robustness import ROBUSTNESS
from benchc.benchmarks.bench_c.claims.selection import SELECTION
from benchc.benchmarks.bench_c.claims.structure import PLANE, SENSITIVITY
from benchc.rendering.verdicts import NOT_APPLICABLE

ALL = (*SELECTION, *RANKING, *PLANE, *SENSITIVITY, *SEVERITY, *GAINS, *GROUPS, *ROBUSTNESS)
CLAIMS = {
    "section": pl.String,  # of the paper
    "claim": pl.String,
    "criterion": pl.String,  # of the check; ours
    "paper": pl.String,  # the paper's numbers
    "here": pl.String,  # ours, or why there are none
    "verdict": pl.String,  # of benchc.rendering.verdicts
}


def claims(evidence: Evidence) -> pl.DataFrame:
    """Return one row per claim, columns ``CLAIMS``: of sections 4.4 and 8.2, then 6, then 9.

    The claims are the same in every run; those that cannot be checked are "not applicable", with the reason.
    """
    paper = published_evidence()
    rows = []
    # Selection first, as in the paper's pipeline; a stable sort keeps the order above within a section.
    for claim in sorted(ALL, key=lambda claim: (claim.section[0] not in "48", claim.section[:3])):
        criterion, published = claim.criterion.replace("{example}", str(evidence.example)), claim.paper
        if CHECKED in published:
            published = published.replace(CHECKED, claim.check(paper).numbers)
        rows.append((claim.section, claim.text, criterion, published, *claim.check(evidence)))
    return pl.DataFrame(rows, schema=CLAIMS, orient="row")


def without_models(table: pl.DataFrame, reason: str) -> pl.DataFrame:
    """Return a table of :func:`claims` in which only claims about the selection have a verdict."""
    about_models = ~pl.col("claim").is_in([claim.text for claim in SELECTION])
    return table.with_columns(
        pl.when(about_models).then(pl.lit(value)).otherwise(name).alias(name)
        for name, value in (("here", reason), ("verdict", NOT_APPLICABLE))
    )
