"""Table 1 as text: Markdown for a terminal or a README, LaTeX for a paper. The numbers come ready-made."""

import textwrap
from typing import NamedTuple

import polars as pl

from benchc.benchmarks.bench_c.inputs import Selected
from benchc.benchmarks.bench_c.metrics import table1 as metrics
from benchc.benchmarks.bench_c.metrics.table1 import best_rows
from benchc.benchmarks.bench_c.published.section import compare_table1, published_latex, published_markdown
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.rendering.environment import table_environment
from benchc.rendering.grid import booktabs, latex_text, markdown
from benchc.rendering.numbers import CAPTION_WIDTH, MISSING, number_text
from benchc.rendering.output import Table

CAPTION = (
    "Performance on the {items:,} items of the benchmark. {acc}, {s} and {c}: accuracy, uncertainty and "
    "calibration error on clean images, plain means over items (the csv file also holds {s} and {c} weighted "
    "by {kappa}). {delta} and {ras}: under corruption, means over items weighted by {kappa}, then over "
    "corruptions and severities (eq. 11). Arrows point to the better side; {ranks}: rank, 1 is best; bold: "
    "best."
)
UNDEFINED = " {missing}: undefined, since all items have {kappa} = 0."


class Column(NamedTuple):
    """How one column of numbers is shown."""

    name: str
    markdown: str
    latex: str
    signed: bool  # a shift: print its plus sign
    rank: str | None = None  # the column that holds its ranks


COLUMNS = (
    Column("acc_clean", "Acc(o) ↑", r"$\mathrm{Acc}^{(o)}\uparrow$", signed=False),
    Column("delta_acc", "ΔAcc ↑", r"$\Delta\mathrm{Acc}\uparrow$", signed=True, rank="rank_delta_acc"),
    Column("ras", "RAS ↑", r"$\mathrm{RAS}\uparrow$", signed=True, rank="rank_ras"),
    Column("entropy_clean", "S(o) ↓", r"$\mathcal{S}^{(o)}\downarrow$", signed=False),
    Column("delta_entropy", "ΔS ↓", r"$\Delta\mathcal{S}\downarrow$", signed=True),
    Column("calibration_clean", "C(o) ↓", r"$\mathcal{C}^{(o)}\downarrow$", signed=False),
    Column("delta_calibration", "ΔC ↓", r"$\Delta\mathcal{C}\downarrow$", signed=True),
)


def table1(targets: TargetScores, selected: Selected) -> Table:
    """Return Table 1: accuracy, RAS and their shifts for every target (eq. 11), beside the paper's."""
    weights = selected.filter("kept").select("id", "kappa")
    table = metrics.table1(
        list(targets.models.values()), list(targets.scores.values()), weights, left_out=targets.left_out
    )
    return Table(
        table,
        table1_markdown(table, targets.note),
        table1_latex(table, targets.note),
        compare_table1(table),
        f"table 1: {table.height} targets on {targets.items:,} items",
    )


def table1_markdown(table: pl.DataFrame, note: str = "") -> str:
    """Return a table of ``metrics.table1`` as an aligned Markdown table with its caption.

    Below it the published values of the models that the paper tests too. ``note`` ends the caption.
    """
    best = best_rows(table)
    header = ["Model", "Year", "Params", *(column.markdown for column in COLUMNS)]
    rows = []
    for number, row in enumerate(table.iter_rows(named=True)):
        cells = []
        for column in COLUMNS:
            value = number_text(row[column.name], column.signed)
            text = f"**{value}**" if number in best[column.name] else value
            cells.append(f"{text} ({row[column.rank]})" if column.rank and value != MISSING else text)
        rows.append([row["label"], *_facts(row["year"], row["parameters_b"]), *cells])
    caption = CAPTION.format(
        items=table["items"][0],
        acc="Acc(o)",
        s="S(o)",
        c="C(o)",
        delta="Δ",
        ras="RAS",
        kappa="κ",
        ranks="in brackets",
    ) + _undefined(table, missing=MISSING, kappa="κ")
    section = published_markdown(compare_table1(table), 1)
    return f"{markdown(header, rows)}\n{textwrap.fill(caption + note, CAPTION_WIDTH)}\n{section}"


def table1_latex(table: pl.DataFrame, note: str = "") -> str:
    """Return the same table as a LaTeX ``table*`` environment; it needs the package booktabs.

    A second one holds the published values of the models that the paper tests too. ``note`` ends the caption.
    """
    best = best_rows(table)
    header = ["Model", "Year", "Params", *(column.latex for column in COLUMNS)]
    rows = []
    for number, row in enumerate(table.iter_rows(named=True)):
        cells = []
        for column in COLUMNS:
            value = number_text(row[column.name], column.signed)
            if value == MISSING:
                cells.append("--")
                continue
            text = rf"\mathbf{{{value}}}" if number in best[column.name] else value
            cells.append(f"${text}^{{({row[column.rank]})}}$" if column.rank else f"${text}$")
        facts = (fact.replace(MISSING, "--") for fact in _facts(row["year"], row["parameters_b"]))
        rows.append([latex_text(row["label"]), *facts, *cells])
    caption = CAPTION.format(
        items=table["items"][0],
        acc=r"$\mathrm{Acc}^{(o)}$",
        s=r"$\mathcal{S}^{(o)}$",
        c=r"$\mathcal{C}^{(o)}$",
        delta=r"$\Delta$",
        ras=r"$\mathrm{RAS}$",
        kappa=r"$\kappa$",
        ranks="superscripts",
    ) + _undefined(table, missing="--", kappa=r"$\kappa$")
    environment = table_environment(booktabs(header, rows), caption + note, "tab:bench-c")
    return environment + published_latex(compare_table1(table), 1)


def parameters_text(parameters_b: float | None) -> str:
    """Return a number of parameters, given in 10^9, in billions, millions or thousands: 8B, 2.5M, 310K."""
    if parameters_b is None:
        return MISSING
    for unit, size in (("B", 1.0), ("M", 1e-3), ("K", 1e-6)):
        # 0.9996 million rounds to 1000K; the larger unit says 1M.
        if parameters_b >= 0.9995 * size or unit == "K":
            return f"{float(f'{parameters_b / size:.3g}'):g}{unit}"
    raise AssertionError("K takes what is left")


def _undefined(table: pl.DataFrame, *, missing: str, kappa: str) -> str:
    return UNDEFINED.format(missing=missing, kappa=kappa) if table["ras"].null_count() else ""


def _facts(year: int | None, parameters_b: float | None) -> tuple[str, str]:
    return (MISSING if year is None else str(year)), parameters_text(parameters_b)
