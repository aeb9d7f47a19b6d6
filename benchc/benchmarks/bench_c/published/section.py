"""Recomputed values compared with the published ones, as a section below a table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from benchc.benchmarks.bench_c.published.tables import published_table1, published_table2, published_table3
from benchc.benchmarks.bench_c.tables.names import COUNTS, NAMES, SIGNED, words
from benchc.rendering.latex import latex_number, latex_table, latex_text
from benchc.rendering.markdown import captioned, paragraph
from benchc.rendering.numbers import number_text
from benchc.rendering.output import Table
from benchc.rendering.published import compare_with_published

# Our columns, and the published ones that they are compared with. The paper does not say which form of the
# clean uncertainty and calibration error it prints, so both are compared.
VALUES1 = {
    "acc_clean": "acc_clean",
    "delta_acc": "delta_acc",
    "ras": "ras",
    "entropy_clean": "entropy_clean",
    "entropy_clean_weighted": "entropy_clean",
    "delta_entropy": "delta_entropy",
    "calibration_clean": "calibration_clean",
    "calibration_clean_weighted": "calibration_clean",
    "delta_calibration": "delta_calibration",
    "rank_delta_acc": "rank_delta_acc",
    "rank_ras": "rank_ras",
}
VALUES2 = {name: name for name in ("mean_abs_z_ras", "mean_abs_z_delta_acc", "t")}
VALUES3 = {
    name: name for name in ("acc_clean", "delta_acc", "delta_entropy", "delta_calibration", "ras", "wr", "rw")
}

TEXTS = {"label": "Model", "corruption": "Corruption", "regime": "Category (paper)"}
CAPTION = (
    "Table {number} of the paper for the models that are also in this run: the published value and, in "
    "brackets, the difference (ours minus published). Ranks are among the models of each."
)
NONE_SHARED = "None of the models is in the paper's Table {number}, so there are no values to compare."


def compare_table1(table: pl.DataFrame) -> pl.DataFrame:
    """Return the values of Table 1 and the paper's, as from :func:`compare_with_published`.

    Models are matched by the name that the paper prints.
    """
    return compare_with_published(table, published_table1(), on=["label"], values=VALUES1)


def compare_table2(table: pl.DataFrame) -> pl.DataFrame:
    """Return the values of Table 2 and the paper's."""
    return compare_with_published(table, published_table2(), on=["label"], values=VALUES2)


def compare_table3(subtle: pl.DataFrame) -> pl.DataFrame:
    """Return the paper's cases of Table 3 and ours, with the published regime.

    ``subtle`` has every (model, corruption) at severity 1, so that a published case without a gain here
    is compared too.
    """
    return compare_with_published(
        subtle, published_table3(), on=["label", "corruption"], values=VALUES3, carried=["regime"]
    )


def with_published(table: Table, number: int) -> Table:
    """Return Table ``number`` with a section of its published values."""
    assert table.published is not None
    return replace(
        table,
        markdown=table.markdown + published_markdown(table.published, number),
        latex=table.latex + published_latex(table.published, number),
    )


def published_markdown(comparison: pl.DataFrame, number: int) -> str:
    """Return a section for the Markdown file of Table ``number``; a sentence where no model is shared."""
    if comparison.is_empty():
        return "\n" + paragraph(NONE_SHARED.format(number=number))
    texts, values, rows = _cells(comparison, latex=False)
    header = [*(TEXTS[name] for name in texts), *(NAMES[name][0] for name in values)]
    return "\n" + captioned(header, rows, CAPTION.format(number=number), len(texts))


def published_latex(comparison: pl.DataFrame, number: int) -> str:
    """Return the same as a LaTeX environment; a comment where no model is shared."""
    if comparison.is_empty():
        return f"% {NONE_SHARED.format(number=number)}\n"
    texts, values, rows = _cells(comparison, latex=True)
    header = [*(TEXTS[name] for name in texts), *(NAMES[name][1] for name in values)]
    caption, label = CAPTION.format(number=number), f"bench-c-{number}-published"
    return "\n" + latex_table(header, rows, caption=caption, label=label, text_columns=len(texts))


def _cells(comparison: pl.DataFrame, *, latex: bool) -> tuple[list[str], list[str], Sequence[Sequence[str]]]:
    texts = [name for name in TEXTS if name in comparison.columns]
    values = comparison["value"].unique(maintain_order=True).to_list()
    rows = []
    for key, group in comparison.group_by(*texts, maintain_order=True):
        found = {row["value"]: row for row in group.iter_rows(named=True)}
        names = [
            str(part) if name == "label" else words(str(part)) for name, part in zip(texts, key, strict=True)
        ]
        rows.append(
            [
                *(latex_text(name) if latex else name for name in names),
                *(_cell(name, found[name], latex) for name in values),
            ]
        )
    return texts, values, rows


def _cell(name: str, row: Mapping[str, float | None], latex: bool) -> str:
    whole = name in COUNTS
    published = number_text(row["published"], name in SIGNED, whole=whole)
    difference = number_text(row["difference"], signed=True, whole=whole)
    if latex:
        published, difference = latex_number(published), latex_number(difference)
    return f"{published} ({difference})"
