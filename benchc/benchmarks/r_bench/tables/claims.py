"""The paper's claims, checked on this run and on the paper's own tables."""

import polars as pl

from benchc.benchmarks.r_bench import claims as checks
from benchc.benchmarks.r_bench.chance import ChanceTable
from benchc.benchmarks.r_bench.metrics.means import AXES
from benchc.benchmarks.r_bench.published.tables import CLOSED, MODELS
from benchc.benchmarks.r_bench.scored import ScoreFiles, scored_of
from benchc.benchmarks.r_bench.tables.frames import long_means, notes
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.verdicts import NOT_APPLICABLE, counts_of

CAPTION = (
    "The paper's claims of section 4.3 on {models}: {counts}. The paper gives no criteria; these are ours, "
    "applied also to its Table 3, with exchanged strengths in place, and for steps to its Table 4. A claim "
    "that holds or not on few models says little of others.{notes}"
)
NO_MODEL = "no model is ranked: none is above chance (table chance)"


def claims(scores: ScoreFiles, labels: dict[str, str], chance: ChanceTable) -> Table:
    """Return the claims, what the paper's tables and this run show of each, and the verdict on this run.

    Of the models that are ranked.
    """
    scored = scored_of(scores, labels)
    parts = scored.parts(AXES[:-1])
    means = long_means(scored, parts, scored.draws(parts, 0, 0))
    compared = [
        model
        for model, one in zip(scored.models, chance.ranked(pl.Series(scored.models)), strict=True)
        if one
    ]
    closed = {labels[id_] for id_ in labels if MODELS.get(id_) in CLOSED}
    table = checks.claims(checks.Evidence(means.filter(pl.col("model").is_in(compared)), closed))
    if not compared:
        table = table.with_columns(here=pl.lit(NO_MODEL), verdict=pl.lit(NOT_APPLICABLE))
    counts = counts_of(table["verdict"])
    return printed(
        table,
        [
            Column("claim", "Claim", inches=1.3),
            Column("criterion", "Criterion", inches=1.5),
            Column("paper", "Paper", inches=1.6),
            Column("here", "Here", inches=1.6),
            Column("verdict", "Verdict here", inches=0.7),
        ],
        caption=CAPTION.format(
            models=", ".join(compared) or "no model",
            counts=counts,
            notes=notes(scored) + chance.models.left_out,
        ),
        label="r-bench-claims",
        small=True,
        summary=f"claims: {counts}",
    )
