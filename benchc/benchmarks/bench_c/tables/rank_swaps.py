"""The pairs of models that RAS and ΔAcc order differently, as Markdown and LaTeX."""

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from benchc.benchmarks.bench_c.inputs import Selected
from benchc.benchmarks.bench_c.metrics import rank_swaps as metrics
from benchc.benchmarks.bench_c.tables.names import latex_caption
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ChanceTable
from benchc.rendering.markdown import paragraph
from benchc.rendering.numbers import MISSING
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

LEAST = 1e-3  # p values below it are shown as a bound
CAPTION = (
    "Of {pairs} of models, {opposite:,} {are} ordered differently by ΔAcc and by RAS; {swaps:,} of these "
    "significantly (p at most 0.05 after Holm's correction over {tested}). Differences are weighted by κ "
    "(eq. 11), with 95 % bootstrap intervals from {draws} of the items, the same for all models. p: twice "
    "the larger of the two one-sided bootstrap p values, since both signs must hold. Conditional on the "
    "selected set."
)


def rank_swaps(
    targets: TargetScores, selected: Selected, chance: ChanceTable, draws: PositiveInt, seed: int
) -> Table:
    """Return for every pair of ranked targets whether RAS and ΔAcc order it differently, with a test."""
    cube, labels = targets.cube, targets.labels
    ranked = [id_ for id_ in cube.models if labels[id_] in chance.ranked]
    table = metrics.rank_swaps(cube, cube.kappa(selected.filter("selected")), draws, seed, ranked)
    return printed_rank_swaps(table, labels, draws, chance.left_out + targets.note)


def printed_rank_swaps(table: pl.DataFrame, labels: Mapping[str, str], draws: int, note: str = "") -> Table:
    """Return the pairs of opposite order of a table of ``metrics.rank_swaps``, smallest p first.

    ``labels``: models' names as printed; ``note`` ends the caption.
    """
    shown = table.filter("opposite").sort("p", nulls_last=True, maintain_order=True)
    caption = _caption(table, draws) + note
    found = printed(
        table,
        [
            Column("model_a", "A", "$A$"),
            Column("model_b", "B", "$B$"),
            Column("delta_acc", "ΔAcc: A − B", r"$\Delta\mathrm{Acc}$: $A-B$", signed=True, interval=True),
            Column("ras", "RAS: A − B", r"$\mathrm{RAS}$: $A-B$", signed=True, interval=True),
            Column("p", "p", "$p$", form=_p_text),
            Column("p_holm", "p (Holm)", r"$p$ (Holm)", form=_p_text),
        ],
        caption=caption,
        latex_caption=latex_caption(caption),
        label="bench-c-rank-swaps",
        shown=shown.with_columns(
            pl.col("model_a", "model_b").replace_strict(labels),
            delta_acc="delta_acc_difference",
            ras="ras_difference",
        ),
        summary=f"{pluralize(table.height, 'pair')} of targets, "
        f"{pluralize(int(table['swap'].sum()), 'significant swap')}",
    )
    return found if shown.height else replace(found, markdown=paragraph(caption))


def _p_text(p: float | None) -> str:
    """Return a p value with three decimals, the precision of resampling, or a bound on it."""
    if p is None:
        return MISSING
    return f"<{LEAST:g}" if p < LEAST else f"{p:.3f}"


def _caption(table: pl.DataFrame, draws: int) -> str:
    if table.is_empty():
        return "Fewer than two models: there are no pairs to compare."
    tested = table.height - table["p"].null_count()
    opposite, swaps = int(table["opposite"].sum()), int(table["swap"].sum())
    text = CAPTION.format(
        pairs=pluralize(table.height, "pair"),
        opposite=opposite,
        are="is" if opposite == 1 else "are",
        swaps=swaps,
        tested=pluralize(tested, "pair"),
        draws=pluralize(draws, "resample"),
    )
    return f"{text} Without two items of κ > 0 there is no p." if tested < table.height else text
