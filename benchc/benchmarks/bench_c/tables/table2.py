"""Table 2 as text: Markdown for a terminal or a README, LaTeX for a paper."""

import textwrap
from typing import Literal

import polars as pl

from benchc.benchmarks.bench_c.metrics import table2 as metrics
from benchc.benchmarks.bench_c.published.section import (
    NAMES,
    compare_table2,
    published_latex,
    published_markdown,
)
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.rendering.environment import table_environment
from benchc.rendering.grid import booktabs, latex_text, markdown
from benchc.rendering.numbers import CAPTION_WIDTH, latex_number, number_text, p_text
from benchc.rendering.output import Table

CAPTION = (
    "Sensitivity of {ras} and {delta} to one more step of severity. z is the shift of an item from one "
    "severity to the next, {centring} over its standard deviation over items; |z| is averaged over items, "
    "steps and corruptions. t and p: one-sided paired t-test over corruptions (pairs - 1 degrees of freedom) "
    "of the hypothesis that {ras} is not more sensitive."
)
CENTRED = {False: "not centred,", True: "minus its mean over items,"}
HEADER = (
    ("Model", "Model"),
    ("Pairs", "Pairs"),
    NAMES["mean_abs_z_ras"],
    NAMES["mean_abs_z_delta_acc"],
    NAMES["t"],
    ("p", "$p$"),
)


def table2(targets: TargetScores, centring: Literal["none", "items"]) -> Table:
    """Return Table 2: how RAS and accuracy answer to one more step of severity (section 9.2).

    ``centring`` items: z is the distance from the mean shift over items; none: from no shift.
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
        f"table 2: {table.height} targets",
    )


def table2_markdown(table: pl.DataFrame, *, centred: bool, note: str = "") -> str:
    """Return a table of ``metrics.table2`` as Markdown, with caption, notes and published values."""
    rows = [[row["label"], *_numbers(row)] for row in table.iter_rows(named=True)]
    grid = markdown([name for name, _ in HEADER], rows)
    caption = CAPTION.format(ras="RAS", delta="ΔAcc", centring=CENTRED[centred])
    text = textwrap.fill(f"{caption}{_notes(table)}{note}", CAPTION_WIDTH)
    return f"{grid}\n{text}\n{published_markdown(compare_table2(table), 2)}"


def table2_latex(table: pl.DataFrame, *, centred: bool, note: str = "") -> str:
    """Return the same as LaTeX ``table*`` environments; they need the packages booktabs and amssymb."""
    rows = [
        [latex_text(row["label"]), *map(latex_number, _numbers(row))] for row in table.iter_rows(named=True)
    ]
    caption = CAPTION.format(
        ras=r"$\mathrm{RAS}$", delta=r"$\Delta\mathrm{Acc}$", centring=CENTRED[centred]
    ).replace("|z|", "$|z|$")
    return table_environment(
        booktabs([name for _, name in HEADER], rows),
        caption + latex_text(_notes(table)) + note,
        "tab:bench-c-sensitivity",
    ) + published_latex(compare_table2(table), 2)


def _numbers(row: dict[str, float | None]) -> list[str]:
    return [
        number_text(row["pairs"], signed=False, whole=True),
        *(number_text(row[name], signed=False) for name in ("mean_abs_z_ras", "mean_abs_z_delta_acc", "t")),
        p_text(row["p"]),
    ]


def _notes(table: pl.DataFrame) -> str:
    noted = table.filter(pl.col("note") != "")
    return "".join(f" {row['label']}: {row['note']}." for row in noted.iter_rows(named=True))
