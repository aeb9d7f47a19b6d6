"""Table 3 as text: Markdown for a terminal or a README, LaTeX for a paper."""

import textwrap

import polars as pl

from benchc.benchmarks.bench_c.metrics import table3 as metrics
from benchc.benchmarks.bench_c.metrics.regimes import cells
from benchc.benchmarks.bench_c.metrics.table3 import SUBTLE
from benchc.benchmarks.bench_c.published.section import (
    NAMES,
    compare_table3,
    published_latex,
    published_markdown,
)
from benchc.benchmarks.bench_c.schemas.scores import REGIMES
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.rendering.environment import table_environment
from benchc.rendering.grid import booktabs, latex_text, markdown
from benchc.rendering.numbers import CAPTION_WIDTH, latex_number, number_text
from benchc.rendering.output import Table

CAPTION = (
    "The {cases} of {pairs} cases (model, corruption) in which the mildest corruption, severity {severity}, "
    "raises accuracy. Means over items are plain; WR and RW: items that turned right and wrong; {delta} = "
    "(WR - RW) / items; category: by the signs of the mean shifts of uncertainty and calibration error. "
    "{counts}"
)
NOT_READ = "No model was read at severity {severity}, so there is no case to look for."
NUMBERS = ("acc_clean", "delta_acc", "delta_entropy", "delta_calibration", "ras", "wr", "rw")


def table3(targets: TargetScores) -> Table:
    """Return Table 3: where severity 1 raises accuracy (section 9.3), beside the paper's cases."""
    tables = {label: cells(part) for label, part in targets.by_label.items()}
    table, subtle = metrics.table3(tables), metrics.subtle_cells(tables)
    return Table(
        table,
        table3_markdown(table, subtle, targets.note),
        table3_latex(table, subtle, targets.note),
        compare_table3(subtle),
        f"table 3: {table.height} of {subtle.height} cases gain accuracy",
    )


def table3_markdown(table: pl.DataFrame, subtle: pl.DataFrame, note: str = "") -> str:
    """Return a table of ``metrics.table3`` as Markdown, with its caption and the published cases.

    ``subtle`` holds every (model, corruption) at severity 1, gain or not.
    """
    rows = [
        [row["label"], _words(row["corruption"]), row["regime"], *_numbers(row)]
        for row in table.iter_rows(named=True)
    ]
    header = ["Model", "Corruption", "Category", *(NAMES[name][0] for name in NUMBERS)]
    text = textwrap.fill(_caption(table, subtle, "ΔAcc") + note, CAPTION_WIDTH)
    grid = markdown(header, rows, text_columns=3)
    return f"{grid}\n{text}\n{published_markdown(compare_table3(subtle), 3)}"


def table3_latex(table: pl.DataFrame, subtle: pl.DataFrame, note: str = "") -> str:
    """Return the same as LaTeX ``table*`` environments; they need the package booktabs."""
    rows = [
        [
            latex_text(row["label"]),
            latex_text(_words(row["corruption"])),
            row["regime"],
            *map(latex_number, _numbers(row)),
        ]
        for row in table.iter_rows(named=True)
    ]
    header = ["Model", "Corruption", "Category", *(NAMES[name][1] for name in NUMBERS)]
    return table_environment(
        booktabs(header, rows, text_columns=3),
        _caption(table, subtle, r"$\Delta\mathrm{Acc}$") + note,
        "tab:bench-c-gains",
    ) + published_latex(compare_table3(subtle), 3)


def _caption(table: pl.DataFrame, subtle: pl.DataFrame, delta: str) -> str:
    if subtle.is_empty():
        return NOT_READ.format(severity=SUBTLE)
    counts = dict(table["regime"].cast(pl.String).value_counts().rows())
    found = ", ".join(f"{counts.get(regime, 0)} {regime}" for regime in REGIMES)
    return CAPTION.format(
        cases=table.height, pairs=subtle.height, severity=SUBTLE, delta=delta, counts=f"Found: {found}."
    )


def _numbers(row: dict[str, float]) -> list[str]:
    return [
        number_text(row[name], name not in ("acc_clean", "wr", "rw"), whole=name in ("wr", "rw"))
        for name in NUMBERS
    ]


def _words(name: str) -> str:
    return name.replace("_", " ")
