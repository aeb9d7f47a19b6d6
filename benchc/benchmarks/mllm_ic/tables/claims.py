"""The paper's claims, checked on this run."""

import polars as pl

from benchc.benchmarks.mllm_ic import claims as checks
from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles, check_models, few_pictures
from benchc.benchmarks.mllm_ic.tables.frames import averages_note, of_pictures
from benchc.command_line import PositiveInt
from benchc.rendering.chance import ChanceTable
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.verdicts import counts_of

CAPTION = (
    "The paper's claims of section 4 on {models}: {counts}. The paper gives no criteria; these are ours. A "
    "claim holds if the whole 95 % interval, from {draws}, meets its criterion, does not if "
    "none of it does, and cannot be told otherwise. A claim that holds or not on few models says little of "
    "others."
)


def claims(
    run: RunFiles,
    labels: dict[str, str],
    categories: dict[str, str],
    chance: ChanceTable,
    draws: PositiveInt,
    seed: int,
) -> Table:
    """Return the claims with criteria, numbers of the ranked models with intervals, and verdicts."""
    check_models(run, labels)
    ranked = {id_: label for id_, label in labels.items() if label in chance.ranked}
    evidence = checks.evidence_of(run, [*ranked], categories, draws, seed) if ranked else None
    table = checks.claims(evidence)
    counts = counts_of(table["verdict"])
    return printed(
        table,
        [
            Column("claim", "Claim", inches=1.0),
            Column("criterion", "Criterion", inches=1.3),
            Column("paper", "Paper", inches=0.7),
            Column("here", "Here", inches=1.1),
            Column("verdict", "Verdict", inches=0.6),
            Column("value", "Number", digits=3, interval=True),
        ],
        caption=CAPTION.format(
            models=", ".join(ranked.values()) or "no model",
            counts=counts,
            draws=of_pictures(run, draws),
        )
        + few_pictures(run)
        + averages_note(run)
        + chance.left_out,
        label="mllm-ic-claims",
        shown=table.with_columns(value_low=pl.col("low"), value_high=pl.col("high")),
        small=True,
        summary=f"claims: {counts}",
    )
