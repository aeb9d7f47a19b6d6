"""All claims of the Bench-C paper that its results make, as a table."""

import polars as pl

from benchc.benchmarks.bench_c.claims.evidence import Evidence
from benchc.benchmarks.bench_c.claims.gains import claims_of_gains, claims_of_severity
from benchc.benchmarks.bench_c.claims.groups import claims_of_groups
from benchc.benchmarks.bench_c.claims.ranking import claims_of_ranking
from benchc.benchmarks.bench_c.claims.robustness import claims_of_robustness
from benchc.benchmarks.bench_c.claims.selection import claims_of_selection
from benchc.benchmarks.bench_c.claims.structure import claims_of_plane, claims_of_sensitivity

CLAIMS = {
    "section": pl.String,  # of the paper
    "claim": pl.String,
    "criterion": pl.String,  # of the check; ours
    "paper": pl.String,  # the paper's numbers
    "here": pl.String,  # ours, or why there are none
    "verdict": pl.String,  # one of claims.claim.VERDICTS
}


def claims(evidence: Evidence) -> pl.DataFrame:
    """Return one row per claim, columns ``CLAIMS``: of sections 4.4 and 8.2, then 6, then 9.

    The claims are the same in every run; those that cannot be checked are "not applicable", with the reason.
    """
    found = [
        *claims_of_selection(evidence),
        *claims_of_ranking(evidence.table1.drop_nulls(["acc_clean", "delta_acc", "ras"])),
        *claims_of_plane(evidence.example),
        *claims_of_sensitivity(evidence),
        *claims_of_severity(evidence.cells),
        *claims_of_gains(evidence.table3, evidence.subtle_cases, evidence.cells),
        *claims_of_groups(evidence),
        *claims_of_robustness(evidence.robustness, evidence.groups),
    ]
    # Selection first, as in the paper's pipeline; a stable sort keeps the order above within a section.
    found.sort(key=lambda claim: (claim.section[0] not in "48", claim.section[:3]))
    return pl.DataFrame(
        [
            {
                "section": claim.section,
                "claim": claim.claim,
                "criterion": claim.criterion,
                "paper": claim.paper,
                "here": claim.finding.numbers,
                "verdict": claim.finding.verdict,
            }
            for claim in found
        ],
        schema=CLAIMS,
    )
