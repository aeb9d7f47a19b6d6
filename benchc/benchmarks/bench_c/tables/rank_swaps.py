"""The pairs of models that RAS and ΔAcc order differently, as Markdown and LaTeX."""

from collections.abc import Mapping

import polars as pl
from pydantic import PositiveInt

from benchc.benchmarks.bench_c.inputs import Selected
from benchc.benchmarks.bench_c.metrics import rank_swaps as metrics
from benchc.benchmarks.bench_c.tables.names import latex_caption
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.pluralize import pluralize
from benchc.rendering.latex import latex_number, latex_table, latex_text
from benchc.rendering.markdown import captioned, paragraph
from benchc.rendering.numbers import MISSING, interval_text, number_text
from benchc.rendering.output import Table

LEAST = 1e-3  # p values below it are shown as a bound
CAPTION = (
    "Of {pairs} of models, {opposite:,} {are} ordered differently by ΔAcc and by RAS; {swaps:,} of these "
    "significantly (p at most 0.05 after Holm's correction over {tested}). Differences are weighted by κ "
    "(eq. 11), with 95 % bootstrap intervals from {draws} of the items, the same for all models. p: twice "
    "the larger of the two one-sided bootstrap p values, since both signs must hold. Conditional on the "
    "selected set."
)


def rank_swaps(targets: TargetScores, selected: Selected, draws: PositiveInt, seed: int) -> Table:
    """Return for every pair of targets whether RAS and ΔAcc order it differently, with a bootstrap test."""
    cube = targets.cube
    table = metrics.rank_swaps(cube, cube.kappa(selected.filter("selected")), draws, seed)
    return Table(
        table,
        rank_swaps_markdown(table, targets.labels, draws, targets.note),
        rank_swaps_latex(table, targets.labels, draws, targets.note),
        summary=f"{pluralize(table.height, 'pair')} of targets, "
        f"{pluralize(int(table['swap'].sum()), 'significant swap')}",
    )


def rank_swaps_markdown(table: pl.DataFrame, labels: Mapping[str, str], draws: int, note: str = "") -> str:
    """Return the pairs of opposite order of a table of ``metrics.rank_swaps``, smallest p first."""
    header = ["A", "B", "ΔAcc: A − B", "RAS: A − B", "p", "p (Holm)"]
    rows = [[labels[a], labels[b], *cells] for a, b, *cells in _rows(table)]
    caption = _caption(table, draws) + note
    return captioned(header, rows, caption, text_columns=2) if rows else paragraph(caption)


def rank_swaps_latex(table: pl.DataFrame, labels: Mapping[str, str], draws: int, note: str = "") -> str:
    """Return the same as a LaTeX ``table*`` environment, which needs the package booktabs."""
    return latex_table(
        ["$A$", "$B$", r"$\Delta\mathrm{Acc}$: $A-B$", r"$\mathrm{RAS}$: $A-B$", "$p$", r"$p$ (Holm)"],
        [
            [latex_text(labels[a]), latex_text(labels[b]), *map(latex_number, cells)]
            for a, b, *cells in _rows(table)
        ],
        caption=latex_caption(_caption(table, draws) + note),
        label="bench-c-rank-swaps",
        text_columns=2,
    )


def _rows(table: pl.DataFrame) -> list[list[str]]:
    rows = []
    for row in table.filter("opposite").sort("p", nulls_last=True, maintain_order=True).iter_rows(named=True):
        cells = [row["model_a"], row["model_b"]]
        for metric in ("delta_acc", "ras"):
            value = number_text(row[f"{metric}_difference"], signed=True)
            interval = interval_text(row[f"{metric}_low"], row[f"{metric}_high"], signed=True)
            cells.append(f"{value} {interval}")
        rows.append([*cells, _p_text(row["p"]), _p_text(row["p_holm"])])
    return rows


def _p_text(p: float | None) -> str:
    """Return a p value with three decimals, the precision of resampling, or a bound on it."""
    if p is None:
        return MISSING
    return f"<{LEAST:g}" if p < LEAST else f"{p:.3f}"


def _caption(table: pl.DataFrame, draws: int) -> str:
    if table.is_empty():
        return "One model: there are no pairs to compare."
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
