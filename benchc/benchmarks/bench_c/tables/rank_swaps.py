"""The pairs of models that RAS and ΔAcc order differently, as Markdown and LaTeX."""

import textwrap
from collections.abc import Mapping

import polars as pl
from pydantic import PositiveInt

from benchc.benchmarks.bench_c.inputs import Selected
from benchc.benchmarks.bench_c.metrics import rank_swaps as metrics
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.rendering.environment import table_environment
from benchc.rendering.grid import booktabs, latex_text, markdown
from benchc.rendering.numbers import CAPTION_WIDTH, MISSING, interval_text, number_text
from benchc.rendering.output import Table

DASH = r"\textrm{--}"
LEAST = 1e-3  # p values below it are shown as a bound


def rank_swaps(targets: TargetScores, selected: Selected, draws: PositiveInt, seed: int) -> Table:
    """Return for every pair of targets whether RAS and ΔAcc order it differently, with a bootstrap test."""
    cube = targets.cube
    table = metrics.rank_swaps(cube, cube.kappa(selected.filter("kept")), draws, seed)
    return Table(
        table,
        rank_swaps_markdown(table, targets.labels, draws, targets.note),
        rank_swaps_latex(table, targets.labels, draws, targets.note),
        summary=f"{table.height:,} pairs of targets, {int(table['swap'].sum())} swap",
    )


def rank_swaps_markdown(table: pl.DataFrame, labels: Mapping[str, str], draws: int, note: str = "") -> str:
    """Return the pairs of opposite order of a table of ``metrics.rank_swaps``, smallest p first."""
    header = ["A", "B", "ΔAcc: A − B", "RAS: A − B", "p", "p (Holm)"]
    rows = [[labels[a], labels[b], *cells] for a, b, *cells in _rows(table)]
    caption = _caption(table, draws, delta="ΔAcc", percent=" %")
    text = textwrap.fill(caption + note, CAPTION_WIDTH) + "\n"
    return f"{markdown(header, rows, text_columns=2)}\n{text}" if rows else text


def rank_swaps_latex(table: pl.DataFrame, labels: Mapping[str, str], draws: int, note: str = "") -> str:
    """Return the same as a LaTeX ``table*`` environment; it needs the package booktabs."""
    header = ["$A$", "$B$", r"$\Delta\mathrm{Acc}$: $A-B$", r"$\mathrm{RAS}$: $A-B$", "$p$", r"$p$ (Holm)"]
    rows = [
        [
            latex_text(labels[a]),
            latex_text(labels[b]),
            *(f"${cell.replace(MISSING, DASH)}$" for cell in cells),
        ]
        for a, b, *cells in _rows(table)
    ]
    caption = _caption(table, draws, delta=r"$\Delta\mathrm{Acc}$", percent=r"\,\%")
    return table_environment(booktabs(header, rows, text_columns=2), caption + note, "tab:bench-c-rank-swaps")


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
    """Return a p value with three digits, all that resampling gives, or the bound below which it lies."""
    if p is None:
        return MISSING
    return f"<{LEAST:g}" if p < LEAST else f"{p:.3f}"


def _caption(table: pl.DataFrame, draws: int, delta: str, percent: str) -> str:
    if table.is_empty():
        return "One model: there are no pairs to compare."
    tested = table.height - table["p"].null_count()
    opposite, swaps = int(table["opposite"].sum()), int(table["swap"].sum())
    text = (
        f"Of {table.height:,} pairs of models, {opposite:,} are ordered one way by {delta} and the other way "
        f"by RAS; {swaps:,} of these beyond chance (p at most 0.05 after Holm's correction over {tested:,} "
        f"pairs). Differences are of the values weighted by kappa (eq. 11), with 95{percent} bootstrap "
        f"intervals from {draws:,} resamples of the items, together for all models. p: twice the larger of "
        "the two one-sided bootstrap p values, since both signs must hold. Conditional on the selected set."
    )
    return f"{text} Without two items of positive kappa there is no p." if tested < table.height else text
