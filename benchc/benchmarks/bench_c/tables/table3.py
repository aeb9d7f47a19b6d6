"""Table 3 as Markdown and LaTeX."""

import polars as pl

from benchc.benchmarks.bench_c.metrics import table3 as metrics
from benchc.benchmarks.bench_c.metrics.regimes import cells
from benchc.benchmarks.bench_c.metrics.table3 import SUBTLE
from benchc.benchmarks.bench_c.published.section import compare_table3, with_published
from benchc.benchmarks.bench_c.schemas.scores import REGIMES
from benchc.benchmarks.bench_c.tables.names import latex_caption, measure
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, ChanceTable, Standings
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

CAPTION = (
    "Pairs of model and corruption in which severity {severity}, the mildest, raises accuracy: {cases} of "
    "{pairs}. Unweighted means over items; WR, RW: items that turned right, wrong; ΔAcc = (WR - RW) / "
    "items; regime: by the signs of the mean shifts of uncertainty and calibration error. Found: {counts}."
    + ORDER
)
NO_CASES = "The run has no predictions at severity {severity}, so there is no case to look for."
COLUMNS = (
    Column("label", "Model"),
    Column("corruption", "Corruption"),
    Column("regime", "Regime"),
    *map(measure, ("acc_clean", "delta_acc", "delta_entropy", "delta_calibration", "ras", "wr", "rw")),
)


def table3(targets: TargetScores, chance: ChanceTable) -> Table:
    """Return Table 3: where severity 1 raises accuracy (section 9.3), compared with the paper's cases."""
    tables = {label: cells(part) for label, part in targets.by_label.items()}
    table, subtle = metrics.table3(tables), metrics.subtle_cells(tables)
    summary = f"table 3: {table.height} of {pluralize(subtle.height, 'case')} with a gain in accuracy"
    return printed_table3(table, subtle, chance, targets.note, summary)


def printed_table3(
    table: pl.DataFrame,
    subtle: pl.DataFrame,
    chance: Standings | None = None,
    note: str = "",
    summary: str = "",
) -> Table:
    """Return a table of ``metrics.table3`` as printed, with the published cases.

    ``subtle`` has every (model, corruption) at severity 1, gain or not; ``chance``: which models are above
    it, None where that is unknown; ``note`` ends the caption.
    """
    labels = table["label"]
    if chance is not None:
        labels, note = chance.marked(labels), chance.note + note
    caption = _caption(table, subtle) + note
    return with_published(
        printed(
            table,
            COLUMNS,
            caption=caption,
            latex_caption=latex_caption(caption),
            label="bench-c-gains",
            shown=table.with_columns(
                labels,
                pl.col("corruption").str.replace_all("_", " ", literal=True),
                pl.col("regime").cast(pl.String),
            ),
            published=compare_table3(subtle),
            summary=summary,
        ),
        3,
    )


def _caption(table: pl.DataFrame, subtle: pl.DataFrame) -> str:
    if subtle.is_empty():
        return NO_CASES.format(severity=SUBTLE)
    counts = dict(table["regime"].cast(pl.String).value_counts().rows())
    found = ", ".join(f"{counts.get(regime, 0)} {regime}" for regime in REGIMES)
    return CAPTION.format(
        cases=table.height, pairs=pluralize(subtle.height, "case"), severity=SUBTLE, counts=found
    )
