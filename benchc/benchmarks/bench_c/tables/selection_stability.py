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
from benchc.rendering.latex import latex_symbols
from benchc.rendering.output import Table, parquet
from benchc.rendering.printing import Column, printed

SHOWN = (
    Column("selection", "Selection"),
    Column("selectable", "κ > 0", r"$\kappa>0$"),
    Column("selected", "Kept"),
    Column("selected_by_both", "In both"),
    Column("jaccard", "Jaccard"),
    Column("jaccard_by_chance", "By chance"),
    Column("spearman", "Spearman"),
    Column("kendall", "Kendall"),
)
KAPPA_HEADER = ("Mean", "Share of 0", "1st quartile", "Median", "3rd quartile")
KAPPAS = (Column("items", "Items"), *map(Column, SUMMARY, KAPPA_HEADER))

CAPTION = (
    "Stability of the selected set under single choices. Each row changes one choice and selects again from "
    "the {items} of the pool. In both: items selected here and as configured; Jaccard: these divided by the "
    "items selected in either; by chance: its approximate value for random sets of these sizes; Spearman, "
    "Kendall: rank correlations of the final scores of the items with κ > 0 in both. α: weights of κ and of "
    "diversity."
)
NOTHING_SELECTED = " {choices} nothing; the csv file says why."
KAPPA_CAPTION = "Discriminative power κ before and after selection, as configured."


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
    return printed_stability(table, labels, f"{pluralize(table.height - 1, 'other selection')}{least}")


def printed_stability(table: pl.DataFrame, labels: Mapping[str, str], summary: str = "") -> Table:
    """Return rows of ``selection.stability.COLUMNS`` as two tables with captions.

    ``labels``: the selectors' names as printed, by id.
    """
    caption = _caption(table)
    choices = [_choice(row, labels) for row in table.iter_rows(named=True)]
    first = printed(
        table,
        SHOWN,
        caption=caption,
        latex_caption=latex_symbols(caption).replace(r"$\kappa$ \textgreater{} 0", r"$\kappa>0$"),
        label="bench-c-stability",
        shown=table.with_columns(pl.Series("selection", choices)),
    )
    second = printed(_kappas(table), KAPPAS, caption=KAPPA_CAPTION, label="bench-c-kappa")
    markdown = f"{first.markdown}\n{second.markdown}"
    return Table(table, markdown, f"{first.latex}\n{second.latex}", summary=summary)


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


def _kappas(table: pl.DataFrame) -> pl.DataFrame:
    """Return kappa before and after selection as configured, columns items and ``SUMMARY``."""
    first = table.row(0, named=True)
    counts = {"pool": first["items"], "selected": first["selected"]}
    return pl.DataFrame(
        [
            {"items": f"{items} ({count:,})", **{part: first[f"kappa_{items}_{part}"] for part in SUMMARY}}
            for items, count in counts.items()
        ]
    )


def _caption(table: pl.DataFrame) -> str:
    count = table.height - table["note"].null_count()
    choices = "1 choice selects" if count == 1 else f"{count} choices select"
    nothing = NOTHING_SELECTED.format(choices=choices) if count else ""
    return CAPTION.format(items=pluralize(table["items"][0], "item")) + nothing
