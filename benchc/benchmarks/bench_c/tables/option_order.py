"""What another order of the options changes, as Markdown and LaTeX. The numbers come ready-made."""

import textwrap

import polars as pl

from benchc.benchmarks.bench_c.metrics.option_order import CLEAN
from benchc.benchmarks.bench_c.tables.intervals import interval_text
from benchc.rendering.environment import table_environment
from benchc.rendering.grid import booktabs, latex_text, markdown
from benchc.rendering.numbers import CAPTION_WIDTH, MISSING, number_text

# (column, header, with its interval)
COLUMNS = (
    ("entropy", "S", False),
    ("entropy_orders", "mean S", False),
    ("order_part", "Order part", True),
    ("changed", "Changed", False),
    ("same_place", "Letter", False),
    ("accuracy", "Acc", False),
    ("accuracy_circular", "Circular", False),
    ("spearman", "ρ", False),
)
HEADER = ("Model", "Images", *(header for _, header, _ in COLUMNS))
SMALLER = "\\footnotesize\n"  # in the size of a page's text the columns are wider than it
SYMBOLS = {"ρ": r"$\rho$", "κ": r"$\kappa$", "–": "--"}

CAPTION = (
    "What another order of the options changes. {items:,} items of the benchmark were asked in all K "
    "circular orders of their options, clean and under {corruptions} at severity {severity}. S: entropy (eq. "
    "6) in the given order; mean S: over all orders; order part: the entropy of the mean distribution less "
    "mean S, a Jensen-Shannon divergence over log K: the uncertainty that no single order shows; changed: "
    "share of the other orders whose prediction differs from the given order's; letter: share of the other "
    "orders that are answered with the given order's letter, whatever option stands there; Acc: accuracy in "
    "the given order; circular: share of reads answered rightly in all orders (MMBench's CircularEval); ρ: "
    "Spearman's rank correlation of S and changed over reads. All but ρ are in [0, 1] and plain means over "
    "reads, not weighted by κ. Brackets: 95 % bootstrap intervals from {draws:,} resamples of the items, "
    "together for all models and conditional on the selected set; the csv file has more of them, and every "
    "corruption."
)
BLIND = (
    " {labels} {verb} scored by the options' texts, which {whose} prompt does not list: order part, "
    "changed and letter are 0 by construction, but for rounding."
)
UNDEFINED = " {missing}: undefined, the csv file says why."


def option_order_markdown(table: pl.DataFrame, draws: int, note: str = "") -> str:
    """Return the clean and overall rows of ``metrics.option_order`` as Markdown.

    ``note`` ends the caption, with a space in front.
    """
    text = textwrap.fill(_caption(table, draws) + note, CAPTION_WIDTH)
    return f"{markdown(HEADER, _rows(table), text_columns=2)}\n{text}\n"


def option_order_latex(table: pl.DataFrame, draws: int, note: str = "") -> str:
    """Return the same as a LaTeX ``table*`` environment; it needs the package booktabs."""
    rows = [[*map(latex_text, names), *map(_latex_cell, cells)] for *names, cells in _split(_rows(table))]
    header = [_latex(name) for name in HEADER]
    tabular = SMALLER + booktabs(header, rows, text_columns=2)
    return table_environment(tabular, _latex(_caption(table, draws) + note), "tab:bench-c-option-order")


def _split(rows: list[list[str]]) -> list[tuple[str, str, list[str]]]:
    return [(label, images, cells) for label, images, *cells in rows]


def _rows(table: pl.DataFrame) -> list[list[str]]:
    rows = []
    for row in _shown(table).iter_rows(named=True):
        cells = []
        for name, _, interval in COLUMNS:
            text = number_text(row[name], signed=name == "spearman")
            if interval and row[name] is not None:
                text += f" {interval_text(row[f'{name}_low'], row[f'{name}_high'])}"
            cells.append(text)
        clean = row["corruption"] == CLEAN
        rows.append([row["label"] if clean else "", CLEAN if clean else "corrupted", *cells])
    return rows


def _shown(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of clean reads and of all corruptions together."""
    return table.filter((pl.col("corruption") == CLEAN) | pl.col("corruption").is_null())


def _caption(table: pl.DataFrame, draws: int) -> str:
    shown = _shown(table)
    corrupted = shown.filter(pl.col("corruption").is_null()).row(0, named=True)
    count = corrupted["reads"] // corrupted["items"]
    caption = CAPTION.format(
        items=corrupted["items"],
        corruptions=f"{count} corruptions" if count > 1 else "1 corruption",
        severity=corrupted["severity"],
        draws=draws,
    )
    blind = table.filter(pl.col("scoring").str.starts_with("text"))["label"].unique(maintain_order=True)
    if len(blind):
        verb, whose = ("is", "its") if len(blind) == 1 else ("are", "their")
        caption += BLIND.format(labels=_listed(blind.to_list()), verb=verb, whose=whose)
    if shown["spearman"].null_count() or shown["order_part_low"].null_count():
        caption += UNDEFINED.format(missing=MISSING)
    return caption


def _listed(names: list[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _latex(text: str) -> str:
    # A percent sign is escaped before its space becomes a thin one.
    text = latex_text(text)
    for symbol, command in {**SYMBOLS, r" \%": r"\,\%"}.items():
        text = text.replace(symbol, command)
    return text


def _latex_cell(text: str) -> str:
    if text == MISSING:
        return "--"
    number = text.replace(MISSING, r"\textrm{--}").replace(" [", r"\ [")
    return f"${number}$"
