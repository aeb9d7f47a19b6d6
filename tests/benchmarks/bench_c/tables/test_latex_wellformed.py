"""Every table in LaTeX is well-formed: checked by a parser of our own, since the tests do not run LaTeX."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.cube import cube_of
from benchc.benchmarks.bench_c.metrics.discrimination import discrimination
from benchc.benchmarks.bench_c.metrics.option_order import measure_predictions, option_order
from benchc.benchmarks.bench_c.metrics.table1 import TABLE1
from benchc.benchmarks.bench_c.selection.stability import Setting, stability
from benchc.benchmarks.bench_c.tables.claims import claims_latex
from benchc.benchmarks.bench_c.tables.discrimination import printed_discrimination
from benchc.benchmarks.bench_c.tables.option_order import printed_option_order
from benchc.benchmarks.bench_c.tables.selection_stability import printed_stability
from benchc.benchmarks.bench_c.tables.table1 import printed_table1
from tests.benchmarks.bench_c.metrics.order_tables import drawn_predictions, items_of
from tests.benchmarks.bench_c.metrics.score_tables import kappas, scored
from tests.benchmarks.bench_c.selection.test_stability import (
    ALL_PREDICTIONS,
    CORRUPTIONS,
    EMBEDDED,
    ITEMS,
    SELECTORS,
    SEVERITIES,
)
from tests.rendering.latex import check_latex
from tests.standings import standings_of

LABEL = r"Öl_1 & 50% #2 {a} ~^\ $x$ <|>"


def good(row: str, *, columns: str = "lr", caption: str = "Of $x$ 5 \\%.") -> str:
    return (
        f"\\begin{{table*}}\n\\caption{{{caption}}}\n\\label{{tab:a_b}}\n\\begin{{tabular}}{{{columns}}}\n"
        f"\\toprule\n{row} \\\\\n\\end{{tabular}}\n\\end{{table*}}\n"
    )


def test_the_parser_accepts_valid_latex() -> None:
    assert check_latex(good(r"a\_b & $\mathbf{-0.1}^{(1)}$")) == ([], {"booktabs"})
    wide = r">{\raggedright\arraybackslash}p{0.1\linewidth}r"
    assert check_latex("% a remark with 5 % & more\n" + good("a & 1"))[0] == []
    assert check_latex(good("é – a & 1", columns=wide))[0] == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (good("a & 1 & 2"), "a row has 3 cells, the table 2 columns"),
        (good("a & 1", columns="lrr"), "a row has 2 cells, the table 3 columns"),
        (good("a & $1"), "a row ends in a formula"),
        (good("a & $1 & 2$"), "& outside of a table's row, or in a formula"),
        (good("a", caption="R & D"), "& outside of a table's row"),
        (good("a_b & 1"), "_ outside of a formula"),
        (good("a & 5%"), "% is not printed"),
        (good("a & 1") + " % a", "% is not printed"),
        (good("a & #1"), "# is not printed"),
        (good("a & < 1"), "< outside of a formula"),
        (good("{a & 1"), "braces or a formula are open"),
        (good("a} & 1}"), "a brace is closed that is not open"),
        (good("a & $\\mathrm{x$}"), "a formula ends within a brace"),
        (good("κ & 1"), "κ has no glyph"),
        (good("a & − 1"), "− has no glyph"),
        (good("a & $1 – 2$"), "– has no glyph"),
        (good("a & \\kappa"), "\\kappa is unknown in text"),
        (good("a & $\\kapa$"), "\\kapa is unknown in a formula"),
        (good("a & 1").replace("\\end{tabular}", "\\end{table}"), "\\end{table} of no such environment"),
        (good("a & 1").replace("\\end{table*}", ""), "at the end ['table*']"),
        (good("a & 1").replace(" \\\\", ""), "a row of 2 cells is not ended"),
    ],
)
def test_the_parser_rejects_invalid_latex(text: str, problem: str) -> None:
    assert any(problem in found for found in check_latex(text)[0])


def test_a_table_of_nulls() -> None:
    nulls = dict.fromkeys(TABLE1) | {"label": LABEL, "items": 3}
    text = printed_table1(pl.DataFrame([nulls], schema=TABLE1)).latex
    assert check_latex(text)[0] == []


def test_stability_with_ids_that_need_care() -> None:
    setting = Setting(SELECTORS, SEVERITIES, (1.0, 1.0), "at_pick")
    table = pl.DataFrame(stability(setting, ALL_PREDICTIONS, ITEMS, CORRUPTIONS, EMBEDDED))
    assert check_latex(printed_stability(table, dict.fromkeys(SELECTORS, LABEL)).latex)[0] == []


@pytest.mark.parametrize("counts", [[2, 3, 4, 5], [3]])
def test_option_order(counts: list[int]) -> None:
    items = items_of(counts)
    predictions = {label: drawn_predictions(items, seed) for seed, label in enumerate((LABEL, "B"))}
    measures = {label: measure_predictions(table, items) for label, table in predictions.items()}
    table = option_order(measures, {LABEL: "text", "B": "letter"}, draws=20)
    text = printed_option_order(table, standings_of([LABEL, "B"], ["B"]), 20, " On 4 of 5 items.").latex
    assert check_latex(text) == ([], {"booktabs"})
    assert r"Öl\_1 \& 50\% \#2 \{a\}" in text


@pytest.mark.parametrize(("models", "pool"), [(4, (6, 6)), (4, (6, 30)), (1, (6, 6))])
def test_discrimination(models: int, pool: tuple[int, int]) -> None:
    cube = cube_of({f"m{seed}": scored(12, seed) for seed in range(models)})
    table = discrimination(cube, cube.kappa(kappas(12)), np.arange(12) < 6, pool, draws=20, seed=0)
    assert check_latex(printed_discrimination(table, " On 6 of 7 items.").latex) == ([], {"booktabs"})


def test_claims_use_no_symbol_that_is_not_translated() -> None:
    sources = Path(__file__).resolve().parents[4] / "benchc/benchmarks/bench_c/claims"
    symbols = {letter for path in sources.glob("*.py") for letter in path.read_text() if not letter.isascii()}
    row = ("1", "".join(sorted(symbols)), *[""] * 3, "holds")
    columns = ["section", "claim", "criterion", "paper", "here", "verdict"]
    table = pl.DataFrame([row], schema=columns, orient="row")
    assert check_latex(claims_latex(table))[0] == []
    assert re.search("κ|Δ", "".join(symbols))
