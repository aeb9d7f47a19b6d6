"""The ranking of models by the mean of absolute and relative robustness."""

import numpy as np
import polars as pl

from benchc.benchmarks.r_bench.chance import ChanceTable
from benchc.benchmarks.r_bench.metrics.bootstrap import order
from benchc.benchmarks.r_bench.published.tables import MODELS, published_ranking
from benchc.benchmarks.r_bench.scored import ScoreFiles, scored_of
from benchc.benchmarks.r_bench.tables.frames import notes, resampled
from benchc.command_line import PositiveInt
from benchc.rendering.estimates import estimates
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.published import compare_with_published, of_run

CAPTION = (
    "Ranking by the mean of absolute robustness R_a and relative robustness R_r, both over all pairs and in "
    "[0, 1]; higher is more robust. Stability: the share of resamples in which the rank is the same. "
    "{resampled}{notes}"
)


def rank(
    scores: ScoreFiles, labels: dict[str, str], chance: ChanceTable, draws: PositiveInt, seed: int
) -> Table:
    """Return R_a, R_r, their mean, and the ranks by these, sorted; models without rank come last."""
    scored = scored_of(scores, labels)
    drawn = scored.draws(scored.parts(["overall"]), draws, seed)
    ranked = chance.ranked(pl.Series(scored.models)).to_numpy()
    columns: dict[str, pl.Series] = {}
    for name, values in (
        ("absolute", drawn.absolute),
        ("relative", drawn.relative),
        ("score", drawn.ranking),
    ):
        columns |= estimates(name, values[:, :, 0])
        ranks, stable = order(np.where(ranked, values[:, :, 0], np.nan))
        columns[f"rank_{name}"] = pl.Series(ranks, dtype=pl.Int64)
    frame = pl.DataFrame(
        {"model": scored.models, **columns, "stability": pl.Series(stable, dtype=pl.Float64)}
    )
    frame = frame.rename({"rank_score": "rank"}).sort("rank", nulls_last=True, maintain_order=True)
    best = frame.drop_nulls("rank")["model"]
    return printed(
        frame,
        [
            Column("model", "Model"),
            Column("absolute", "R_a", r"$R_a$", interval=True, digits=4, rank=True),
            Column("relative", "R_r", r"$R_r$", interval=True, digits=4, rank=True),
            Column("score", "(R_a + R_r) / 2", r"$(R_a+R_r)/2$", interval=True, digits=4),
            Column("rank", "Rank"),
            Column("stability", "Stability"),
        ],
        caption=CAPTION.format(resampled=resampled(scored, draws), notes=notes(scored, chance.models)),
        label="r-bench-rank",
        small=True,
        shown=frame.with_columns(chance.models.marked(frame["model"])),
        published=compare_with_published(
            frame,
            of_run(published_ranking(), labels, MODELS),
            on=["model"],
            values={name: name for name in ("absolute", "relative", "score", "rank")},
        ),
        summary=f"most robust: {best[0]}" if len(best) else "no ranks",
    )
