"""Table 2 as Markdown and LaTeX."""

from typing import Literal

import polars as pl

from benchc.benchmarks.bench_c.metrics import table2 as metrics
from benchc.benchmarks.bench_c.published.section import compare_table2, with_published
from benchc.benchmarks.bench_c.tables.names import latex_caption, measure
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, ChanceTable, Standings
from benchc.rendering.numbers import p_text
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

CAPTION = (
    "Sensitivity of RAS and ΔAcc to a step of severity. z: an item's shift from one severity to the next, "
    "{centring} divided by its standard deviation across items; |z| is averaged over items, steps and "
    "corruptions. t, p: one-sided paired t-test over corruptions (pairs - 1 degrees of freedom) of the "
    "hypothesis that RAS is not more sensitive." + ORDER
)
CENTRED = {False: "not centred,", True: "minus its mean over items,"}
COLUMNS = (
    Column("label", "Model"),
    Column("pairs", "Pairs"),
    *(measure(name) for name in ("mean_abs_z_ras", "mean_abs_z_delta_acc", "t")),
    Column("p", "p", "$p$", form=p_text),
)


def table2(targets: TargetScores, chance: ChanceTable, centring: Literal["none", "items"]) -> Table:
    """Return Table 2: how sensitive RAS and accuracy are to a step of severity (section 9.2).

    ``centring``: items subtracts the mean shift over items from z, none does not.
    """
    centred = centring == "items"
    table = metrics.table2(
        {label: metrics.sensitivity(part, centred=centred) for label, part in targets.by_label.items()}
    )
    summary = f"table 2: {pluralize(table.height, 'target')}"
    return printed_table2(table, chance, centred=centred, note=targets.note, summary=summary)


def printed_table2(
    table: pl.DataFrame,
    chance: Standings | None = None,
    *,
    centred: bool,
    note: str = "",
    summary: str = "",
) -> Table:
    """Return a table of ``metrics.table2`` as printed, with the published values; LaTeX needs amssymb.

    ``chance``: which models are above it, None where that is unknown; ``note`` ends the caption.
    """
    shown = table
    if chance is not None:
        shown, note = table.with_columns(chance.marked(table["label"])), chance.note + note
    caption = _caption(table, centred) + note
    return with_published(
        printed(
            table,
            COLUMNS,
            caption=caption,
            latex_caption=latex_caption(caption),
            label="bench-c-sensitivity",
            shown=shown,
            published=compare_table2(table),
            summary=summary,
        ),
        2,
    )


def _caption(table: pl.DataFrame, centred: bool) -> str:
    noted = table.filter(pl.col("note") != "")
    notes = "".join(f" {row['label']}: {row['note']}." for row in noted.iter_rows(named=True))
    return CAPTION.format(centring=CENTRED[centred]) + notes
