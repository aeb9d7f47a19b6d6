import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.table1 import TABLE1
from benchc.benchmarks.bench_c.tables.table1 import parameters_text, printed_table1
from benchc.rendering.latex import booktabs, latex_text
from benchc.rendering.markdown import markdown
from benchc.rendering.numbers import number_text
from tests.benchmarks.bench_c.outputs import flat, rows_of

TABLE = pl.DataFrame(
    [
        ("w", "Weak_1|x", None, None, 1234, 0.4, -0.0401, 1, -0.06, 2, 0.2, 0.3, -0.0002, 0.5, 0.6, 0.01),
        ("s", "Strong", 2025, 8.0, 1234, 0.6, -0.1, 2, -0.05, 1, 0.1, 0.3, 0.02, 0.4, 0.6, 0.03),
    ],
    schema=TABLE1,
    orient="row",
)


def test_markdown_cells():
    markdown = printed_table1(TABLE).markdown
    header, _, *rows = rows_of(markdown)
    assert header[3:] == ["Acc(o) ↑", "ΔAcc ↑", "RAS ↑", "S(o) ↓", "ΔS ↓", "C(o) ↓", "ΔC ↓"]
    weak = r"Weak_1\|x; –; –; 0.400; **-0.040** (1); -0.060 (2); 0.200; **0.000**; 0.500; **+0.010**"
    strong = "Strong; 2025; 8B; **0.600**; -0.100 (2); **-0.050** (1); **0.100**; +0.020; **0.400**; +0.030"
    assert rows == [weak.split("; "), strong.split("; ")]
    assert len({len(line) for line in markdown.splitlines()[:4]}) == 1  # columns line up
    for text in (markdown, printed_table1(TABLE).latex):
        assert "1,234 items" in text and "unweighted means over items" in flat(text)


def test_latex_cells():
    lines = printed_table1(TABLE).latex.splitlines()
    weak = next(line for line in lines if line.startswith("Weak"))
    assert weak == (
        r"Weak\_1\textbar{}x & -- & -- & $0.400$ & $\mathbf{-0.040}^{(1)}$ & $-0.060^{(2)}$ & $0.200$ & "
        r"$\mathbf{0.000}$ & $0.500$ & $\mathbf{+0.010}$ \\"
    )
    order = [r"\begin{table*}", r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}", r"\end{table*}"]
    assert [line for line in lines if line in order] == order
    assert r"\begin{tabular}{lrrrrrrrrr}" in lines
    assert latex_text(r"a_b & 5% {x}^2~\y") == (
        r"a\_b \& 5\% \{x\}\textasciicircum{}2\textasciitilde{}\textbackslash{}y"
    )
    assert latex_text('1 < "x" | > 2') == r"1 \textless{} ''x'' \textbar{} \textgreater{} 2"


def test_numbers_and_parameters():
    signed = [(0.1234, "+0.123"), (-0.1234, "-0.123"), (-0.0004, "0.000"), (0.0, "0.000"), (None, "–")]
    assert [(value, number_text(value, True)) for value, _ in signed] == signed
    assert number_text(0.1234, False) == "0.123"
    billions = {8.0: "8B", 2.25: "2.25B", 0.0025: "2.5M", 0.00031: "310K", 0.9996: "1B", 0.0009996: "1M"}
    assert {value: parameters_text(value) for value in billions} == billions
    assert parameters_text(None) == "–"


@pytest.mark.parametrize("render", [markdown, booktabs])
def test_a_row_of_another_length_is_refused(render):
    with pytest.raises(ValueError, match="row 1 has 1 cells, the header 2"):
        render(["a", "b"], [["1", "2"], ["3"]])
