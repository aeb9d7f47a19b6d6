"""Labels and names from data are shown unchanged, and are no code, in the report, Markdown and LaTeX."""

import re

import polars as pl
import pytest

from benchc.rendering.latex import booktabs, latex_symbols, latex_text
from benchc.rendering.markdown import markdown, markdown_text, paragraph
from benchc.rendering.printing import Column, printed
from tests.rendering.latex import check_latex

HOSTILE = (
    "</script><script>alert(1)</script> a|b &amp; & _c_ $d$ \\e `f` *g* [h](i)\n\n- j\x07 \\input{/etc} "
    "50% #1 ^^41 ~ {x} \x1b[2J\u202ek"
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>", r"\<script>"),
        ("p < 0.1, a_b, Q&A, [0.1, 0.2], a & b", "p < 0.1, a_b, Q&A, [0.1, 0.2], a & b"),
        ("&lt;b&#62;", r"\&lt;b\&#62;"),
        ("_a_ b_", r"\_a\_ b\_"),
        ("$a$", r"\$a\$"),
        ("*a* `b` ~c~", r"\*a\* \`b\` \~c\~"),
        (r"\a \|", r"\\a \\|"),
        ("[a](javascript:b)", r"[a\](javascript:b)"),
        ("a\r\n\n# b\x1b\u2028c", "a   # b  c"),
        ("a\u202eb\u2066c\u2069 א\u200dד", "a b c  א\u200dד"),
    ],
)
def test_markup_is_text_in_markdown(text: str, shown: str) -> None:
    assert markdown_text(text) == shown


def test_a_hostile_label_is_one_cell_of_markdown() -> None:
    header, _, row = markdown(["Model", "Items"], [[HOSTILE, "1"]]).splitlines()
    unescaped = re.compile(r"(?<!\\)(?:\\\\)*\|")
    assert len(unescaped.findall(row)) == len(unescaped.findall(header)) == 3
    assert not re.search(r"(?<!\\)<", row)
    assert not re.search(r"(?<!\\)<", paragraph(HOSTILE))


def test_a_caption_breaks_no_name_at_a_hyphen() -> None:
    names = " ".join(["Tiny-LLaVA-M"] * 40)
    text = paragraph(names)
    assert len(text.splitlines()) > 1 and " ".join(text.split()) == names


@pytest.mark.parametrize("escape", [latex_text, latex_symbols])
def test_a_hostile_label_is_one_cell_of_latex(escape) -> None:
    text = booktabs(["Model", "Items"], [[escape(HOSTILE), "1"]])
    assert check_latex(text) == ([], {"booktabs"})
    assert "\n\n" not in text and "\x07" not in text


@pytest.mark.parametrize("name", ["[2em] a", "*a", "(a"])
def test_a_label_is_no_option_of_the_row_before(name: str) -> None:
    rows = booktabs([name, "b"], [[name, "1"], [name, "2"]]).splitlines()
    assert sum(row.startswith("{}" + name) for row in rows) == 3


def test_a_printed_table_of_hostile_names_is_well_formed() -> None:
    frame = pl.DataFrame({"label": [HOSTILE], "items": [1]})
    table = printed(frame, [Column("label", "Model"), Column("items", "Items")], caption=HOSTILE, label="x")
    assert check_latex(table.latex) == ([], {"booktabs"})
    assert not re.search(r"(?<!\\)<", table.markdown)
