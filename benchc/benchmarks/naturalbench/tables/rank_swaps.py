"""The pairs of models that Acc and G-Acc order differently."""

import polars as pl

from benchc.benchmarks.naturalbench.metrics.bootstrap import Resamples
from benchc.benchmarks.naturalbench.metrics.groups import MEASURES
from benchc.benchmarks.naturalbench.scored import CleanScores
from benchc.benchmarks.naturalbench.tables.frames import labels_of, reading_text
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ChanceTable
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.statistics.rank_swaps import swap_table

METRICS = ("acc", "g_acc")
ONE_GROUP = "interval and p undefined: one group"
# Of more pairs of models only those ordered oppositely are printed.
MOST_SHOWN = 15
CAPTION = (
    "Of {pairs} of models, {opposite:,} {are} ordered differently by Acc and by G-Acc, by the reading "
    "{reading}; {swaps:,} of these significantly (p at most 0.05 after Holm's correction over {tested}). "
    "Differences in per cent, with 95 % percentile intervals from {draws} of the {groups}, the same for all "
    "models. p: twice the larger of the two one-sided bootstrap p values, since both signs must hold."
)


def rank_swaps(
    scored: CleanScores, chance: ChanceTable, reading: str, draws: PositiveInt, seed: int
) -> Table:
    """Return whether Acc and G-Acc order each pair of ranked models with the reading differently.

    With a bootstrap test (:mod:`benchc.statistics.rank_swaps`). Of many pairs only the opposite ones are
    printed.
    """
    chosen = [MEASURES.index(metric) for metric in METRICS]
    groups = scored.groups.height
    resamples = Resamples(groups, draws, seed)
    labels, drawn, standings = [], [], chance.of(reading)
    for id_, label in labels_of(scored).items():
        values = scored.values(id_, reading)[:, chosen]
        if reading in scored.scores[id_].predicted and label in standings.ranked:
            labels.append(label)
            drawn.append(resamples.means(values))
    table = swap_table(labels, drawn, METRICS, ONE_GROUP if groups < 2 else None)
    tested = table.height - table["p"].null_count()
    # Those ordered oppositely first.
    pairs = table.sort(~pl.col("opposite").fill_null(value=False), "p", nulls_last=True, maintain_order=True)
    opposite = pairs.filter("opposite")
    caption = CAPTION.format(
        pairs=pluralize(table.height, "pair"),
        opposite=opposite.height,
        are="is" if opposite.height == 1 else "are",
        reading=reading_text(reading),
        swaps=int(table["swap"].sum()),
        tested=pluralize(tested, "pair"),
        draws=pluralize(draws, "resample"),
        groups=pluralize(groups, "group"),
    )
    short = {
        f"{metric}_difference_{end}": pl.col(f"{metric}_{end}")
        for metric in METRICS
        for end in ("low", "high")
    }
    return printed(
        table,
        [
            Column("model_a", "A"),
            Column("model_b", "B"),
            Column("acc_difference", "Acc: A − B", signed=True, interval=True, digits=1),
            Column("g_acc_difference", "G-Acc: A − B", signed=True, interval=True, digits=1),
            Column("p", "p", digits=5),
            Column("p_holm", "p (Holm)", digits=5),
        ],
        caption=caption + standings.left_out,
        label="naturalbench-rank-swaps",
        shown=(pairs if pairs.height <= MOST_SHOWN else opposite).with_columns(**short),
        summary=f"{pluralize(table.height, 'pair')}, "
        f"{pluralize(int(table['swap'].sum()), 'significant swap')}",
    )
