"""Table 3 as Markdown and LaTeX."""

import polars as pl

from benchc.benchmarks.bench_c.metrics import table3 as metrics
from benchc.benchmarks.bench_c.metrics.regimes import cells
from benchc.benchmarks.bench_c.metrics.table3 import SUBTLE
from benchc.benchmarks.bench_c.published.section import compare_table3, published_latex, published_markdown
from benchc.benchmarks.bench_c.schemas.scores import REGIMES
from benchc.benchmarks.bench_c.tables.names import COUNTS, NAMES, SIGNED, latex_caption, words
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.pluralize import pluralize
from benchc.rendering.latex import latex_number, latex_table, latex_text
from benchc.rendering.markdown import captioned
from benchc.rendering.numbers import number_text
from benchc.rendering.output import Table

CAPTION = (
    "The {cases} of {pairs} (model, corruption) in which severity {severity}, the mildest, raises "
    "accuracy. Unweighted means over items; WR, RW: items that turned right, wrong; ΔAcc = (WR - RW) / "
    "items; regime: by the signs of the mean shifts of uncertainty and calibration error. Found: {counts}."
)
NO_CASES = "The run has no predictions at severity {severity}, so there is no case to look for."
NUMBERS = ("acc_clean", "delta_acc", "delta_entropy", "delta_calibration", "ras", "wr", "rw")


def table3(targets: TargetScores) -> Table:
    """Return Table 3: where severity 1 raises accuracy (section 9.3), compared with the paper's cases."""
    tables = {label: cells(part) for label, part in targets.by_label.items()}
    table, subtle = metrics.table3(tables), metrics.subtle_cells(tables)
    return Table(
        table,
        table3_markdown(table, subtle, targets.note),
        table3_latex(table, subtle, targets.note),
        compare_table3(subtle),
        f"table 3: {table.height} of {pluralize(subtle.height, 'case')} with a gain in accuracy",
    )


def table3_markdown(table: pl.DataFrame, subtle: pl.DataFrame, note: str = "") -> str:
    """Return a table of ``metrics.table3`` as Markdown, followed by the published cases.

    ``subtle`` has every (model, corruption) at severity 1, gain or not; ``note`` ends the caption.
    """
    rows = [
        [row["label"], words(row["corruption"]), row["regime"], *_numbers(row)]
        for row in table.iter_rows(named=True)
    ]
    header = ["Model", "Corruption", "Regime", *(NAMES[name][0] for name in NUMBERS)]
    text = captioned(header, rows, _caption(table, subtle) + note, text_columns=3)
    return text + published_markdown(compare_table3(subtle), 3)


def table3_latex(table: pl.DataFrame, subtle: pl.DataFrame, note: str = "") -> str:
    """Return the same as LaTeX ``table*`` environments, which need the package booktabs."""
    rows = [
        [
            latex_text(row["label"]),
            latex_text(words(row["corruption"])),
            row["regime"],
            *map(latex_number, _numbers(row)),
        ]
        for row in table.iter_rows(named=True)
    ]
    text = latex_table(
        ["Model", "Corruption", "Regime", *(NAMES[name][1] for name in NUMBERS)],
        rows,
        caption=latex_caption(_caption(table, subtle) + note),
        label="bench-c-gains",
        text_columns=3,
    )
    return text + published_latex(compare_table3(subtle), 3)


def _caption(table: pl.DataFrame, subtle: pl.DataFrame) -> str:
    if subtle.is_empty():
        return NO_CASES.format(severity=SUBTLE)
    counts = dict(table["regime"].cast(pl.String).value_counts().rows())
    found = ", ".join(f"{counts.get(regime, 0)} {regime}" for regime in REGIMES)
    return CAPTION.format(
        cases=table.height, pairs=pluralize(subtle.height, "case"), severity=SUBTLE, counts=found
    )


def _numbers(row: dict[str, float]) -> list[str]:
    return [number_text(row[name], name in SIGNED, whole=name in COUNTS) for name in NUMBERS]
