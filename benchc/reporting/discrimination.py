"""The selected set beside random subsets of the pool as Markdown and LaTeX. The numbers come ready-made."""

import textwrap

import polars as pl

from benchc.reporting.environment import table_environment
from benchc.reporting.grid import booktabs, latex_text, markdown
from benchc.reporting.numbers import CAPTION_WIDTH, MISSING, number_text

CRITERIA = {"sd": "spread", "separable": "separable pairs", "kendall": "order"}
METRICS = {"acc_clean": "Acc(o)", "acc_corrupted": "Acc(c)", "delta_acc": "ΔAcc", "ras": "RAS"}
WEIGHTS = {"plain": "", "kappa": ", κ"}
HEADER = ("Criterion", "Metric", "Selected", "Random", "Below")
SYMBOLS = {"κ": r"$\kappa$", "Δ": r"$\Delta$", " %": r"\,\%", "τ": r"$\tau$", "–": "--"}
LOW, HIGH = 0.025, 0.975  # shares of random subsets outside of which a value is beyond 95 % of them

CAPTION = (
    "Does the selected set tell the {models} targets apart better than items drawn at random? Selected: "
    "{selected}. Random: median, and in brackets 95 %, of {draws:,} subsets of {size:,} of the {pool:,} "
    "items of the pool; {read}. Spread: standard deviation over targets; separable pairs: share of the pairs "
    "of targets whose paired difference exceeds 1.96 standard errors; order: Kendall's τ-b with the order of "
    "the targets on the pool. Acc(o), Acc(c): clean and corrupted accuracy; κ: weighted by κ (eq. 11). "
    "Below: share of random subsets with a lower value, ties half; 0.5 is what chance gives. It is above "
    "{high} in {above} of {rows} rows and below {low} in {below}. Random subsets share items with the "
    "selected set and with the pool; all is conditional on this pool and these targets, and a target that is "
    "also a selector has had its say in the selection."
)
UNDEFINED = " {missing}: undefined, the csv file says why."


def discrimination_markdown(table: pl.DataFrame, note: str = "") -> str:
    """Return a table of ``benchc.metrics.discrimination`` as Markdown, its ranges apart.

    ``note`` ends the caption.
    """
    rows = [[criterion, metric, *cells] for criterion, metric, cells in _rows(table)]
    return (
        f"{markdown(HEADER, rows, text_columns=2)}\n{textwrap.fill(_caption(table) + note, CAPTION_WIDTH)}\n"
    )


def discrimination_latex(table: pl.DataFrame, note: str = "") -> str:
    """Return the same as a LaTeX ``table*`` environment; it needs the package booktabs."""
    rows = [
        [criterion, _latex(metric), *("--" if cell == MISSING else f"${cell}$" for cell in cells)]
        for criterion, metric, cells in _rows(table)
    ]
    tabular = booktabs(HEADER, rows, text_columns=2)
    return table_environment(tabular, _latex(_caption(table) + note), "tab:bench-c-discrimination")


def _latex(text: str) -> str:
    # A percent sign is escaped before its space becomes a thin one.
    text = latex_text(text)
    for symbol, command in {**SYMBOLS, r" \%": r"\,\%"}.items():
        text = text.replace(symbol, command)
    return text


def _shown(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("criterion").is_in(list(CRITERIA)))


def _rows(table: pl.DataFrame) -> list[tuple[str, str, list[str]]]:
    rows = []
    for row in _shown(table).iter_rows(named=True):
        cells = [
            _text(row["selected"], row["selected_low"], row["selected_high"]),
            _text(row["random_q50"], row["random_q025"], row["random_q975"]),
            number_text(row["share_below"], signed=False),
        ]
        metric = METRICS[row["metric"]] + WEIGHTS[row["weighting"]]
        rows.append((CRITERIA[row["criterion"]], metric, cells))
    return rows


def _text(value: float | None, low: float | None, high: float | None) -> str:
    text = number_text(value, signed=False)
    if low is None or high is None:
        return text
    return f"{text} [{number_text(low, signed=False)}, {number_text(high, signed=False)}]"


def _caption(table: pl.DataFrame) -> str:
    shown, first = _shown(table), table.row(0, named=True)
    if first["models"] < 2:
        return "One target: there are none to tell apart."
    size, selected, read = (first[name] for name in ("size", "selected_read", "unselected_read"))
    others = first["pool_items"] - first["selected_items"]
    caption = CAPTION.format(
        models=first["models"],
        selected=f"the {selected:,} selected items"
        if size == selected
        else f"median, and in brackets 95 %, of {first['draws']:,} random subsets of {size:,} of the "
        f"{selected:,} selected items",
        draws=first["draws"],
        size=size,
        pool=first["pool_items"],
        read="the targets read all of these"
        if read == others
        else f"for the {others:,} that are not selected stand {read:,} that the targets read",
        low=LOW,
        high=HIGH,
        above=int((shown["share_below"] > HIGH).sum()),
        below=int((shown["share_below"] < LOW).sum()),
        rows=shown.height,
    )
    undefined = shown["share_below"].null_count()
    return caption + (UNDEFINED.format(missing=MISSING) if undefined else "")
