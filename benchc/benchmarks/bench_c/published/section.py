"""Recomputed values beside the published ones, as a section below a table."""

import textwrap
from collections.abc import Mapping, Sequence

import polars as pl

from benchc.benchmarks.bench_c.published.tables import published_table1, published_table2, published_table3
from benchc.rendering.environment import table_environment
from benchc.rendering.grid import booktabs, latex_text, markdown
from benchc.rendering.numbers import CAPTION_WIDTH, latex_number, number_text
from benchc.rendering.published import compare_with_published

# Columns of ours, and the published ones that they answer to; the paper does not say which form of the clean
# uncertainty and calibration error it prints, so both are compared.
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

# How a value is called: in Markdown, in LaTeX.
NAMES = {
    "acc_clean": ("Acc(o)", r"$\mathrm{Acc}^{(o)}$"),
    "delta_acc": ("ΔAcc", r"$\Delta\mathrm{Acc}$"),
    "ras": ("RAS", r"$\mathrm{RAS}$"),
    "entropy_clean": ("S(o)", r"$\mathcal{S}^{(o)}$"),
    "entropy_clean_weighted": ("S(o), κ-weighted", r"$\mathcal{S}^{(o)}_\kappa$"),
    "delta_entropy": ("ΔS", r"$\Delta\mathcal{S}$"),
    "calibration_clean": ("C(o)", r"$\mathcal{C}^{(o)}$"),
    "calibration_clean_weighted": ("C(o), κ-weighted", r"$\mathcal{C}^{(o)}_\kappa$"),
    "delta_calibration": ("ΔC", r"$\Delta\mathcal{C}$"),
    "rank_delta_acc": ("rank ΔAcc", r"rank $\Delta\mathrm{Acc}$"),
    "rank_ras": ("rank RAS", r"rank $\mathrm{RAS}$"),
    "mean_abs_z_ras": ("E|z| RAS", r"$\mathbb{E}[|z_{\mathrm{RAS}}|]$"),
    "mean_abs_z_delta_acc": ("E|z| ΔAcc", r"$\mathbb{E}[|z_{\Delta\mathrm{Acc}}|]$"),
    "t": ("t", "$t$"),
    "wr": ("WR", "WR"),
    "rw": ("RW", "RW"),
}
COUNTS = {"rank_delta_acc", "rank_ras", "wr", "rw"}
UNSIGNED = {"acc_clean", "mean_abs_z_ras", "mean_abs_z_delta_acc", "t"} | {
    name for name in NAMES if "_clean" in name
}
TEXTS = {"label": "Model", "corruption": "Corruption", "regime": "Category (paper)"}
CAPTION = (
    "Table {number} of the paper for the models that it shares with this run: the published value and, in "
    "brackets, by how much the value above differs from it (ours minus published)."
)
NONE_SHARED = "None of the models is in the paper's Table {number}, so no published value stands beside ours."


def compare_table1(table: pl.DataFrame) -> pl.DataFrame:
    """Return the values of Table 1 beside the paper's, as :func:`benchc.rendering.published.compare_with_published` does.

    Models coincide where ours has the name that the paper prints.
    """
    return compare_with_published(table, published_table1(), on=["label"], values=VALUES1)


def compare_table2(table: pl.DataFrame) -> pl.DataFrame:
    """Return the values of Table 2 beside the paper's."""
    return compare_with_published(table, published_table2(), on=["label"], values=VALUES2)


def compare_table3(subtle: pl.DataFrame) -> pl.DataFrame:
    """Return the paper's cases of Table 3 beside ours, with the published regime.

    ``subtle`` holds every (model, corruption) at severity 1, so that a published case without a gain here
    is compared too.
    """
    return compare_with_published(
        subtle, published_table3(), on=["label", "corruption"], values=VALUES3, carried=["regime"]
    )


def published_markdown(comparison: pl.DataFrame, number: int) -> str:
    """Return a section for the Markdown file of Table ``number``; a sentence where nothing coincides."""
    if comparison.is_empty():
        return f"\n{textwrap.fill(NONE_SHARED.format(number=number), CAPTION_WIDTH)}\n"
    texts, values, rows = _cells(comparison, latex=False)
    header = [*(TEXTS[name] for name in texts), *(NAMES[name][0] for name in values)]
    caption = textwrap.fill(CAPTION.format(number=number), CAPTION_WIDTH)
    return f"\n{markdown(header, rows, text_columns=len(texts))}\n{caption}\n"


def published_latex(comparison: pl.DataFrame, number: int) -> str:
    """Return the same as a LaTeX environment; a comment where nothing coincides."""
    if comparison.is_empty():
        return f"% {NONE_SHARED.format(number=number)}\n"
    texts, values, rows = _cells(comparison, latex=True)
    header = [*(TEXTS[name] for name in texts), *(NAMES[name][1] for name in values)]
    tabular = booktabs(header, rows, text_columns=len(texts))
    return "\n" + table_environment(tabular, CAPTION.format(number=number), f"tab:bench-c-{number}-published")


def _cells(comparison: pl.DataFrame, *, latex: bool) -> tuple[list[str], list[str], Sequence[Sequence[str]]]:
    texts = [name for name in TEXTS if name in comparison.columns]
    values = comparison["value"].unique(maintain_order=True).to_list()
    rows = []
    for key, group in comparison.group_by(*texts, maintain_order=True):
        found = {row["value"]: row for row in group.iter_rows(named=True)}
        names = [
            str(part) if name == "label" else _words(str(part)) for name, part in zip(texts, key, strict=True)
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
    published = number_text(row["published"], name not in UNSIGNED and not whole, whole=whole)
    difference = number_text(row["difference"], signed=True, whole=whole)
    if latex:
        return f"{latex_number(published)} ({latex_number(difference)})"
    return f"{published} ({difference})"


def _words(name: str) -> str:
    return name.replace("_", " ")
