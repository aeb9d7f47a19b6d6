"""Table 2 as Markdown and LaTeX."""

from typing import Literal

import polars as pl

from benchc.benchmarks.bench_c.metrics import table2 as metrics
from benchc.benchmarks.bench_c.published.section import compare_table2, published_latex, published_markdown
from benchc.benchmarks.bench_c.tables.names import NAMES, latex_caption
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.pluralize import pluralize
from benchc.rendering.latex import latex_number, latex_table, latex_text
from benchc.rendering.markdown import captioned
from benchc.rendering.numbers import number_text, p_text
from benchc.rendering.output import Table

CAPTION = (
    "Sensitivity of RAS and ΔAcc to a step of severity. z: an item's shift from one severity to the next, "
    "{centring} divided by its standard deviation across items; |z| is averaged over items, steps and "
    "corruptions. t, p: one-sided paired t-test over corruptions (pairs - 1 degrees of freedom) of the "
    "hypothesis that RAS is not more sensitive."
)
CENTRED = {False: "not centred,", True: "minus its mean over items,"}
NUMBERS = ("mean_abs_z_ras", "mean_abs_z_delta_acc", "t")
HEADER = (("Model", "Model"), ("Pairs", "Pairs"), *(NAMES[name] for name in NUMBERS), ("p", "$p$"))


def table2(targets: TargetScores, centring: Literal["none", "items"]) -> Table:
    """Return Table 2: how sensitive RAS and accuracy are to a step of severity (section 9.2).

    ``centring``: items subtracts the mean shift over items from z, none does not.
    """
    centred = centring == "items"
    table = metrics.table2(
        {label: metrics.sensitivity(part, centred=centred) for label, part in targets.by_label.items()}
    )
    return Table(
        table,
        table2_markdown(table, centred=centred, note=targets.note),
        table2_latex(table, centred=centred, note=targets.note),
        compare_table2(table),
        f"table 2: {pluralize(table.height, 'target')}",
    )


def table2_markdown(table: pl.DataFrame, *, centred: bool, note: str = "") -> str:
    """Return a table of ``metrics.table2`` as Markdown, followed by the published values.

    ``note`` ends the caption.
    """
    rows = [[row["label"], *_numbers(row)] for row in table.iter_rows(named=True)]
    text = captioned([name for name, _ in HEADER], rows, _caption(table, centred) + note)
    return text + published_markdown(compare_table2(table), 2)


def table2_latex(table: pl.DataFrame, *, centred: bool, note: str = "") -> str:
    """Return the same as LaTeX ``table*`` environments, which need the packages booktabs and amssymb."""
    text = latex_table(
        [name for _, name in HEADER],
        [
            [latex_text(row["label"]), *map(latex_number, _numbers(row))]
            for row in table.iter_rows(named=True)
        ],
        caption=latex_caption(_caption(table, centred) + note),
        label="bench-c-sensitivity",
    )
    return text + published_latex(compare_table2(table), 2)


def _numbers(row: dict[str, float | None]) -> list[str]:
    return [
        number_text(row["pairs"], signed=False, whole=True),
        *(number_text(row[name], signed=False) for name in NUMBERS),
        p_text(row["p"]),
    ]


def _caption(table: pl.DataFrame, centred: bool) -> str:
    noted = table.filter(pl.col("note") != "")
    notes = "".join(f" {row['label']}: {row['note']}." for row in noted.iter_rows(named=True))
    return CAPTION.format(centring=CENTRED[centred]) + notes
