"""The pairs of models that accuracy on clean and on corrupted images order differently."""

from dataclasses import replace

import numpy as np
import polars as pl

from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles, check_models, few_pictures
from benchc.benchmarks.mllm_ic.tables.frames import averages_note, of_pictures, per_cent
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ChanceTable
from benchc.rendering.markdown import paragraph
from benchc.rendering.numbers import p_text
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.statistics.rank_swaps import swap_table

METRICS = ("clean", "corrupted")
# Of more pairs of models only those ordered oppositely are printed.
MOST_SHOWN = 15
CAPTION = (
    "Of {pairs} of ranked models, {opposite:,} {are} ordered differently by overall accuracy on clean and on "
    "corrupted images; {swaps:,} of these significantly (p at most 0.05 after Holm's correction over all "
    "pairs). Differences in points, with 95 % percentile intervals from {draws}, the same for all models. p: "
    "twice the larger of the two one-sided bootstrap p values, since both signs must hold.{shown}"
)
ONLY_OPPOSITE = " Only pairs ordered differently are listed."
NO_PAIR = "Fewer than two models are ranked: there are no pairs to compare."


def rank_swaps(
    run: RunFiles, labels: dict[str, str], chance: ChanceTable, draws: PositiveInt, seed: int
) -> Table:
    """Return whether clean and corrupted images order each pair of ranked models differently, with a test."""
    check_models(run, labels)
    ranked = {id_: label for id_, label in labels.items() if label in chance.ranked}
    columns = {name: run.columns()[name] for name in METRICS}
    averages = run.average(run.draws([*ranked], columns, draws, seed)) if ranked else np.empty((0, 0, 0))
    table = swap_table([*ranked.values()], [*averages.swapaxes(0, 1)], METRICS)
    pairs = table.sort(pl.col("opposite").not_(), "p", nulls_last=True, maintain_order=True)
    opposite = pairs.filter("opposite")
    is_short = pairs.height <= MOST_SHOWN
    swaps = int(table["swap"].sum())
    caption = CAPTION.format(
        pairs=pluralize(table.height, "pair"),
        opposite=opposite.height,
        are="is" if opposite.height == 1 else "are",
        swaps=swaps,
        draws=of_pictures(run, draws),
        shown="" if is_short or opposite.is_empty() else ONLY_OPPOSITE,
    )
    chosen = pairs if is_short else opposite
    shown = per_cent(chosen.select(pl.exclude("p", "p_holm"))).with_columns(chosen["p"], chosen["p_holm"])
    ends = {f"{m}_difference_{end}": pl.col(f"{m}_{end}") for m in METRICS for end in ("low", "high")}
    caption = (
        caption + few_pictures(run) + averages_note(run) if table.height else NO_PAIR
    ) + chance.left_out
    found = printed(
        table,
        [
            Column("model_a", "A"),
            Column("model_b", "B"),
            Column("clean_difference", "Clean: A − B", r"Clean: $A-B$", signed=True, interval=True, digits=1),
            Column(
                "corrupted_difference",
                "Corrupted: A − B",
                r"Corrupted: $A-B$",
                signed=True,
                interval=True,
                digits=1,
            ),
            Column("p", "p", form=p_text),
            Column("p_holm", "p (Holm)", form=p_text),
        ],
        caption=caption,
        label="mllm-ic-rank-swaps",
        shown=shown.with_columns(**ends),
        summary=f"{pluralize(table.height, 'pair')}, {pluralize(swaps, 'significant swap')}",
    )
    return found if chosen.height else replace(found, markdown=paragraph(caption))
