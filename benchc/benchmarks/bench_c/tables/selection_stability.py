"""The stability of the selected set, and its kappas, as Markdown and LaTeX."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import polars as pl

from benchc.benchmarks.bench_c.schemas.embeddings import EMBEDDINGS
from benchc.benchmarks.bench_c.selection.select import FinalScore
from benchc.benchmarks.bench_c.selection.selector_predictions import read_by_selector, read_option_counts
from benchc.benchmarks.bench_c.selection.stability import (
    COLUMNS,
    SUMMARY,
    Setting,
    alternative_settings,
    stability,
)
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.rendering.latex import latex_number, latex_table, latex_text
from benchc.rendering.markdown import captioned
from benchc.rendering.numbers import number_text
from benchc.rendering.output import Table, parquet

HEADER = ("κ > 0", "Kept", "In both", "Jaccard", "By chance", "Spearman", "Kendall")
COUNTS = ("selectable", "selected", "selected_by_both")
SHARES = ("jaccard", "jaccard_by_chance", "spearman", "kendall")
KAPPA_HEADER = ("Mean", "Share of 0", "1st quartile", "Median", "3rd quartile")

CAPTION = (
    "Stability of the selected set under single choices. Each row changes one choice and selects again from "
    "the {items} of the pool. In both: items selected here and as configured; Jaccard: these divided by the "
    "items selected in either; by chance: its approximate value for random sets of these sizes; Spearman, "
    "Kendall: rank correlations of the final scores of the items with κ > 0 in both. α: weights of κ and of "
    "diversity."
)
NOTHING_SELECTED = " {choices} nothing; the csv file says why."
KAPPA_CAPTION = "Discriminative power κ before and after selection, as configured."
SYMBOLS = {r"κ \textgreater{} 0": r"$\kappa>0$", "κ": r"$\kappa$", "α": r"$\alpha$"}


def selection_stability(
    predictions: list[Path],
    pool: Path,
    embeddings: Annotated[pl.DataFrame, parquet(EMBEDDINGS)],
    selectors: list[str],
    labels: dict[str, str],
    corruptions: list[str],
    severities: list[int],
    alpha_kappa: float,
    alpha_diversity: float,
    score: FinalScore,
) -> Table:
    """Return how stable the selected set is under other choices, and kappa before and after selection.

    ``predictions``: pool/{selector}/{part}.parquet of all selectors; ``labels``: the selectors' names as
    printed, by id; the other settings are those of the run.
    """
    by_selector = read_by_selector(predictions, selectors)
    configured = Setting(tuple(selectors), tuple(sorted(severities)), (alpha_kappa, alpha_diversity), score)
    count = 1 + sum(1 for _ in alternative_settings(configured))
    found = stability(configured, by_selector, read_option_counts(pool), corruptions, embeddings)
    table = pl.DataFrame(list(track(found, total=count, label="selections", unit="settings")), schema=COLUMNS)
    others = table[1:].drop_nulls("jaccard")
    worst = others.sort("jaccard", maintain_order=True).head(1).row(0, named=True) if others.height else None
    least = f"; least alike, Jaccard {worst['jaccard']:.2f}: {_choice(worst, labels)}" if worst else ""
    return Table(
        table,
        stability_markdown(table, labels),
        stability_latex(table, labels),
        summary=f"{pluralize(table.height - 1, 'other selection')}{least}",
    )


def stability_markdown(table: pl.DataFrame, labels: Mapping[str, str]) -> str:
    """Return rows of ``selection.stability.COLUMNS`` as two Markdown tables with captions.

    ``labels``: the selectors' names as printed, by id.
    """
    rows = [[_choice(row, labels), *_cells(row)] for row in table.iter_rows(named=True)]
    first = captioned(["Selection", *HEADER], rows, _caption(table))
    second = captioned(["Items", *KAPPA_HEADER], _kappas(table), KAPPA_CAPTION)
    return f"{first}\n{second}"


def stability_latex(table: pl.DataFrame, labels: Mapping[str, str]) -> str:
    """Return the same as two LaTeX ``table*`` environments, which need the package booktabs."""
    first = latex_table(
        ["Selection", *map(_latex, HEADER)],
        [
            [_latex(_choice(row, labels)), *map(latex_number, _cells(row))]
            for row in table.iter_rows(named=True)
        ],
        caption=_latex(_caption(table)),
        label="bench-c-stability",
    )
    second = latex_table(
        ["Items", *KAPPA_HEADER],
        [[name, *map(latex_number, cells)] for name, *cells in _kappas(table)],
        caption=_latex(KAPPA_CAPTION),
        label="bench-c-kappa",
    )
    return f"{first}\n{second}"


def _latex(text: str) -> str:
    text = latex_text(text)
    for symbol, command in SYMBOLS.items():
        text = text.replace(symbol, command)
    return text


def _choice(row: Mapping[str, object], labels: Mapping[str, str]) -> str:
    setting = str(row["setting"])
    match row["choice"]:
        case "selectors":
            return f"without {labels[setting.removeprefix('without ')]}"
        case "severities":
            return f"severities {setting}"
        case "alpha":
            return f"α = {setting}"
        case "final_score":
            return f"score {setting.replace('_', ' ')}"
    return str(row["choice"])


def _cells(row: dict[str, float | None]) -> list[str]:
    counts = [number_text(row[name], signed=False, whole=True) for name in COUNTS]
    return counts + [number_text(row[name], signed=False) for name in SHARES]


def _kappas(table: pl.DataFrame) -> list[list[str]]:
    first = table.row(0, named=True)
    return [
        [
            f"{name} ({count:,})",
            *(number_text(first[f"kappa_{items}_{part}"], signed=False) for part in SUMMARY),
        ]
        for name, items, count in (
            ("pool", "pool", first["items"]),
            ("selected", "selected", first["selected"]),
        )
    ]


def _caption(table: pl.DataFrame) -> str:
    count = table.height - table["note"].null_count()
    choices = "1 choice selects" if count == 1 else f"{count} choices select"
    nothing = NOTHING_SELECTED.format(choices=choices) if count else ""
    return CAPTION.format(items=pluralize(table["items"][0], "item")) + nothing
