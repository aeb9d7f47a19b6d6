"""Table 1 as Markdown and LaTeX."""

import polars as pl

from benchc.benchmarks.bench_c.inputs import Selected
from benchc.benchmarks.bench_c.metrics import table1 as metrics
from benchc.benchmarks.bench_c.metrics.table1 import HIGHER_IS_BETTER, RANKED, best_rows
from benchc.benchmarks.bench_c.published.section import compare_table1, published_latex, published_markdown
from benchc.benchmarks.bench_c.tables.names import NAMES, SIGNED, latex_caption
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.pluralize import pluralize
from benchc.rendering.latex import latex_table, latex_text
from benchc.rendering.markdown import captioned
from benchc.rendering.numbers import MISSING, number_text
from benchc.rendering.output import Table

CAPTION = (
    "Performance on the {items} of the benchmark. Acc(o), S(o), C(o): accuracy, uncertainty and calibration "
    "error on clean images, unweighted means over items (the csv file has S(o) and C(o) weighted by κ, too). "
    "Δ, RAS: under corruption, means over items weighted by κ, then over corruptions and severities (eq. "
    "11). Arrows point to the better direction; {ranks}: rank, 1 is best; bold: best."
)
UNDEFINED = f" {MISSING}: undefined, since all items have κ = 0."
COLUMNS = (
    "acc_clean",
    "delta_acc",
    "ras",
    "entropy_clean",
    "delta_entropy",
    "calibration_clean",
    "delta_calibration",
)


def table1(targets: TargetScores, selected: Selected) -> Table:
    """Return Table 1: accuracy, uncertainty, calibration and RAS of every target (eq. 11)."""
    weights = selected.filter("selected").select("id", "kappa")
    table = metrics.table1(
        list(targets.models.values()), list(targets.scores.values()), weights, excluded=targets.excluded
    )
    return Table(
        table,
        table1_markdown(table, targets.note),
        table1_latex(table, targets.note),
        compare_table1(table),
        f"table 1: {pluralize(table.height, 'target')} on {pluralize(targets.items, 'item')}",
    )


def table1_markdown(table: pl.DataFrame, note: str = "") -> str:
    """Return a table of ``metrics.table1`` as Markdown, followed by the published values.

    ``note`` ends the caption.
    """
    best = best_rows(table)
    header = ["Model", "Year", "Params"]
    header += [f"{NAMES[name][0]} {'↑' if HIGHER_IS_BETTER[name] else '↓'}" for name in COLUMNS]
    rows = []
    for number, row in enumerate(table.iter_rows(named=True)):
        cells = []
        for name in COLUMNS:
            value = number_text(row[name], name in SIGNED)
            text = f"**{value}**" if number in best[name] else value
            cells.append(f"{text} ({row[f'rank_{name}']})" if name in RANKED and value != MISSING else text)
        rows.append([row["label"], *_facts(row["year"], row["parameters_b"]), *cells])
    section = published_markdown(compare_table1(table), 1)
    return captioned(header, rows, _caption(table, "in brackets") + note) + section


def table1_latex(table: pl.DataFrame, note: str = "") -> str:
    """Return the same as LaTeX ``table*`` environments, which need the package booktabs."""
    best = best_rows(table)
    header = ["Model", "Year", "Params"]
    header += [
        f"{NAMES[name][1][:-1]}\\{'up' if HIGHER_IS_BETTER[name] else 'down'}arrow$" for name in COLUMNS
    ]
    rows = []
    for number, row in enumerate(table.iter_rows(named=True)):
        cells = []
        for name in COLUMNS:
            value = number_text(row[name], name in SIGNED)
            if value == MISSING:
                cells.append("--")
                continue
            text = rf"\mathbf{{{value}}}" if number in best[name] else value
            cells.append(f"${text}^{{({row[f'rank_{name}']})}}$" if name in RANKED else f"${text}$")
        facts = (fact.replace(MISSING, "--") for fact in _facts(row["year"], row["parameters_b"]))
        rows.append([latex_text(row["label"]), *facts, *cells])
    caption = latex_caption(_caption(table, "superscripts") + note)
    return latex_table(header, rows, caption=caption, label="bench-c") + published_latex(
        compare_table1(table), 1
    )


def parameters_text(parameters_b: float | None) -> str:
    """Return a number of parameters, given in 10^9, in billions, millions or thousands: 8B, 2.5M, 310K."""
    if parameters_b is None:
        return MISSING
    for unit, size in (("B", 1.0), ("M", 1e-3), ("K", 1e-6)):
        # 0.9996 million rounds to 1000K; the larger unit gives 1M.
        if parameters_b >= 0.9995 * size or unit == "K":
            return f"{float(f'{parameters_b / size:.3g}'):g}{unit}"
    raise AssertionError("every number has a unit")


def _caption(table: pl.DataFrame, ranks: str) -> str:
    undefined = UNDEFINED if table["ras"].null_count() else ""
    return CAPTION.format(items=pluralize(table["items"][0], "item"), ranks=ranks) + undefined


def _facts(year: int | None, parameters_b: float | None) -> tuple[str, str]:
    return (MISSING if year is None else str(year)), parameters_text(parameters_b)
