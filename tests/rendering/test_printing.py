"""A frame as Markdown and LaTeX, formatted by column type."""

import polars as pl

from benchc.rendering.numbers import p_text, significant_text
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


def test_ranks_and_styles_follow_and_mark_numbers():
    frame = pl.DataFrame({"label": ["a", "b", "c"], "x": [0.5, -0.25, None], "rank_x": [1, 2, None]})
    frame = frame.with_columns(x_style=pl.Series(["bold", "italic", None]))

    def cells(**options: bool) -> tuple[list[str], list[str]]:
        columns = [Column("label", "Model"), Column("x", "x", r"$\mathcal{X}$", **options)]
        table = printed(frame, columns, caption="c", label="l", latex_caption="$c$")
        assert r" & $\mathcal{X}$ \\" in table.latex and r"\caption{$c$}" in table.latex
        latex = [line for line in table.latex.splitlines() if line[:4] in ("a & ", "b & ", "c & ")]
        return [line.split("|")[2].strip() for line in table.markdown.splitlines()[2:5]], latex

    markdown, latex = cells(rank=True, styled=True)
    assert markdown == ["**0.500** (1)", "*-0.250* (2)", "–"]
    assert latex == [r"a & $\mathbf{0.500}^{(1)}$ \\", r"b & $\mathit{-0.250}^{(2)}$ \\", r"c & -- \\"]
    assert cells(styled=True)[0] == ["**0.500**", "*-0.250*", "–"]
    assert cells(rank=True)[1][0] == r"a & $0.500^{(1)}$ \\"


def test_texts_after_the_first_are_flush_right_and_no_formulas():
    frame = pl.DataFrame({"label": ["a"], "size": ["8B"], "p": [1e-5], "cell": ["0.1"]})
    columns = [Column("label", "L"), Column("size", "S"), Column("p", "p", form=p_text)]
    table = printed(frame, [*columns, Column("cell", "C", form=str)], caption="c", label="l", text_columns=1)
    assert "{lrrr}" in table.latex and r"a & 8B & $1.00 \times 10^{-5}$ & $0.1$ \\" in table.latex
    assert table.markdown.splitlines()[2] == "| a   |  8B | 1.00e-05 | 0.1 |"


def test_the_frame_that_is_shown_may_be_another():
    shown = FRAME.with_columns(label=pl.lit("Other"))
    table = printed(FRAME, COLUMNS, caption="c", label="l", shown=shown, published=FRAME)
    assert table.frame is table.published is FRAME
    assert table.markdown == printed(shown, COLUMNS, caption="c", label="l").markdown


def test_significant_digits_show_numbers_of_all_magnitudes():
    numbers = [1.5e-20, -0.012345, 0.0, None]
    assert [significant_text(number) for number in numbers] == ["+1.5e-20", "-0.0123", "0", "–"]


def test_long_texts_break_into_lines_of_a_given_width():
    columns = [Column("label", "Model", inches=2.5), Column("items", "Items")]
    latex = printed(FRAME, columns, caption="c", label="x").latex
    assert r"\begin{tabular}{p{2.5in}r}" in latex
