"""A frame as Markdown and LaTeX, formatted by column type."""

import polars as pl

from benchc.rendering.printing import Column, printed
from tests.rendering.latex import check_latex

FRAME = pl.DataFrame(
    {
        "label": ["A_1", "B"],
        "items": [1200, 3],
        "acc": [0.5, None],
        "acc_low": [0.25, None],
        "acc_high": [None, None],
        "shift": [-0.0001, 0.125],
        "shift_low": [-0.5, 0.0],
        "shift_high": [0.5, 0.25],
    }
)
COLUMNS = (
    Column("label", "Model"),
    Column("items", "Items"),
    Column("acc", "Acc", interval=True),
    Column("shift", "ΔAcc", signed=True, interval=True),
)


def test_numbers_shifts_counts_and_nulls_are_formatted():
    table = printed(FRAME, COLUMNS, caption="95 % of κ.", label="x", summary="two rows")
    first, _, a, b, empty, caption, end = table.markdown.split("\n")
    assert [cell.strip() for cell in first.split("|")] == ["", "Model", "Items", "Acc", "ΔAcc", ""]
    assert [cell.strip() for cell in a.split("|")[1:-1]] == [
        "A_1", "1200", "0.500 [–]", "0.000 [-0.500, +0.500]",
    ]  # fmt: skip
    assert [cell.strip() for cell in b.split("|")[1:-1]] == ["B", "3", "–", "+0.125 [0.000, +0.250]"]
    assert (empty, caption, end) == ("", "95 % of κ.", "")
    assert table.frame is FRAME and table.summary == "two rows"


def test_latex_is_well_formed_and_escaped():
    latex = printed(FRAME, COLUMNS, caption="95 % of κ & B_2.", label="x").latex
    check_latex(latex)
    assert r"A\_1 & $1200$ & $0.500\ [\textrm{--}]$ & $0.000\ [-0.500, +0.500]$ \\" in latex
    assert r"B & $3$ & -- & $+0.125\ [0.000, +0.250]$ \\" in latex
    assert r"\caption{95\,\% of $\kappa$ \& B\_2.}" in latex and r"\begin{tabular}{lrrr}" in latex
    assert r"$\Delta$Acc" in latex and r"\label{tab:x}" in latex


def test_significant_digits_show_numbers_of_all_magnitudes():
    frame = pl.DataFrame({"x": [1.5e-20, -0.012345, 0.0, None]})
    (column,) = [Column("x", "x", signed=True, significant=True)]
    lines = printed(frame, [column], caption="c", label="l").markdown.splitlines()[2:6]
    assert [line.split("|")[1].strip() for line in lines] == ["+1.5e-20", "-0.0123", "0", "–"]
    unsigned = printed(frame, [column._replace(signed=False, digits=1)], caption="c", label="l").markdown
    assert [line.split("|")[1].strip() for line in unsigned.splitlines()[2:4]] == ["2e-20", "-0.01"]
