"""Tables 2 and 3, the published values and the claims as text, and the tables of a run."""

import polars as pl

from benchc.benchmarks.bench_c.metrics.regimes import cells
from benchc.benchmarks.bench_c.metrics.table1 import TABLE1
from benchc.benchmarks.bench_c.metrics.table2 import sensitivity, table2
from benchc.benchmarks.bench_c.metrics.table3 import subtle_cells, table3
from benchc.benchmarks.bench_c.published.section import (
    compare_table1,
    compare_table2,
    compare_table3,
    published_latex,
    published_markdown,
)
from benchc.benchmarks.bench_c.published.tables import published_table1, published_table2, published_table3
from benchc.benchmarks.bench_c.tables.cells import cells as cells_of
from benchc.benchmarks.bench_c.tables.claims import claims, claims_latex, claims_markdown
from benchc.benchmarks.bench_c.tables.table1 import printed_table1
from benchc.benchmarks.bench_c.tables.table2 import printed_table2
from benchc.benchmarks.bench_c.tables.table2 import table2 as table2_of
from benchc.benchmarks.bench_c.tables.table3 import printed_table3
from benchc.benchmarks.bench_c.tables.table3 import table3 as table3_of
from benchc.benchmarks.bench_c.targets import Targets
from benchc.rendering.latex import latex_number
from benchc.rendering.numbers import p_text
from benchc.schemas.models import Model
from tests.benchmarks.bench_c.figures.figure_tables import drawn_scores, selection
from tests.benchmarks.bench_c.outputs import flat, rows_of
from tests.rendering.latex import check_latex
from tests.standings import standings_of

CLAIMS = ["section", "claim", "criterion", "paper", "here", "verdict"]
LABELS = ["Molmo", "New_one"]
MODELS = {label: Model(label, label) for label in LABELS}
TABLES = {label: drawn_scores(8, ["fog", "contrast", "spatter"], seed) for seed, label in enumerate(LABELS)}
CELLS = {label: cells(table) for label, table in TABLES.items()}
CHANCE = standings_of(LABELS)
GAINS, SUBTLE = table3(CELLS), subtle_cells(CELLS)


def row(text: str, start: str) -> list[str]:
    return [cells for cells in rows_of(text) if cells[0].startswith(start)][-1]


def test_table2_shows_its_numbers_and_the_published_ones():
    table = table2({label: sensitivity(scores) for label, scores in TABLES.items()})
    molmo = table.row(0, named=True)
    text = printed_table2(table, centred=False).markdown
    assert text.count("| Molmo") == 2 and text.count("| New_one") == 1
    assert row(text.split("\n\n")[0], "Molmo") == [
        "Molmo",
        "3",
        *(f"{molmo[name]:.3f}" for name in ("mean_abs_z_ras", "mean_abs_z_delta_acc", "t")),
        p_text(molmo["p"]),
    ]
    assert row(text, "Molmo")[1] == f"0.523 ({molmo['mean_abs_z_ras'] - 0.523:+.3f})"
    assert "not centred" in flat(text)
    assert "minus its mean" in flat(printed_table2(table, centred=True).markdown)
    latex = printed_table2(table, centred=False).latex
    assert latex.count(r"\toprule") == 2 and r"New\_one & $3$ &" in latex
    table = table2({"One": sensitivity(TABLES["Molmo"].filter(severity=1))})
    text = printed_table2(table, centred=False).markdown
    assert row(text.split("\n\n")[0], "One") == ["One", "0", "–", "–", "–", "–"]
    assert "One: one severity" in text and "None of the models is in the paper's Table 2" in text
    assert r"One & $0$ & -- & -- & -- & -- \\" in printed_table2(table, centred=False).latex


def test_table3_shows_its_cases_and_the_published_ones():
    text = printed_table3(GAINS, SUBTLE).markdown
    shown = rows_of(text.split("\n\n")[0])[2:]
    assert len(shown) == GAINS.height > 0
    for texts, case in zip(shown, GAINS.iter_rows(named=True), strict=True):
        assert texts[:3] == [case["label"], case["corruption"], case["regime"]]
        assert texts[-2:] == [str(case["wr"]), str(case["rw"])]
    assert f"raises accuracy: {GAINS.height} of 6 cases. " in text
    # The paper's only case of Molmo: contrast, WR 20, RW 18.
    (ours,) = SUBTLE.filter(label="Molmo", corruption="contrast").rows(named=True)
    assert row(text, "Molmo")[1:3] == ["contrast", "stable"]
    assert row(text, "Molmo")[-2:] == [f"20 ({ours['wr'] - 20:+d})", f"18 ({ours['rw'] - 18:+d})"]
    assert r"\label{tab:bench-c-3-published}" in printed_table3(GAINS, SUBTLE).latex
    nothing = printed_table3(GAINS.clear(), SUBTLE.clear())
    assert all("no predictions at severity 1" in text for text in (nothing.markdown, nothing.latex))


def test_the_papers_tables_do_not_differ_from_themselves():
    paper = published_table1().with_columns(
        entropy_clean_weighted="entropy_clean", calibration_clean_weighted="calibration_clean"
    )
    tables = (compare_table1(paper), compare_table2(published_table2()), compare_table3(published_table3()))
    for number, (found, rows) in enumerate(zip(tables, (13 * 11, 13 * 3, 28 * 7), strict=True), start=1):
        assert found.height == rows and set(found["difference"]) == {0.0}
        latex = published_latex(found, number)
        assert check_latex(latex)[0] == [] and latex.count(r"\\") >= 13
    text = published_markdown(compare_table1(paper), 1)
    assert row(text, "Molmo")[1:4] == ["0.565 (0.000)", "-0.072 (0.000)", "-0.088 (0.000)"]
    assert row(text, "Molmo")[-1] == "8 (0)"


def test_table1_has_a_section_of_published_values_where_models_coincide():
    values = [8, 0.575, -0.07, 1, -0.09, 1, 0.2, 0.3, 0.03, 0.4, 0.6, 0.07]
    table = pl.DataFrame([("m", "Molmo", 2024, 7.0, *values)], schema=TABLE1, orient="row")
    assert row(printed_table1(table).markdown, "Molmo")[1] == "0.565 (+0.010)"
    assert r"Molmo & $0.565$ ($+0.010$)" in printed_table1(table).latex
    assert "None of the models" in printed_table1(table.with_columns(label=pl.lit("Other"))).markdown


def test_claims_in_latex_are_ascii():
    row = ("6.1", "ΔAcc & κ ≤ 1 % | <", "E|z| > 0", "a_b", "…", "holds")
    latex = claims_latex(pl.DataFrame([row], schema=CLAIMS, orient="row"))
    assert latex.isascii()
    assert (
        r"6.1 & $\Delta$Acc \& $\kappa$ $\le$ 1 \% $|$ $<$ & E$|$z$|$ $>$ 0 & a\_b & \dots{} & holds \\"
        in latex
    )


def test_claims_in_markdown_are_a_list_that_is_read_as_text():
    claim = "Models that are more accurate are more fragile, " + "and so on, " * 12 + "to the end"
    rows = [
        ("6.1", claim, "E|z| < 0", "a_b * c", "1 of 2", "does not hold"),
        ("6.2", "RAS falls", "at every step", "no numbers", "…", "holds"),
    ]
    text = claims_markdown(pl.DataFrame(rows, schema=CLAIMS, orient="row"), " A note.")
    lines = text.splitlines()
    assert max(map(len, lines)) <= 110
    begun = [line[:40] for line in lines if line.startswith("- ")]
    assert begun == ["- does not hold (6.1): Models that are m", "- holds (6.2): RAS falls"]
    # Markup of a claim is shown, and its other lines belong to it.
    shown = " ".join(line.strip() for line in lines)
    assert r"- Holds when: E|z| < 0 - Paper: a_b \* c - Here: 1 of 2  - holds" in shown
    assert claim in shown and "1 of 2 holds, 1 does not. Criteria" in shown and "A note." in shown
    assert all(line.startswith("  ") for line in lines[lines.index("") + 2 : -1] if line and line[0] != "-")


def test_p_values():
    for p, text, latex in (
        (0.0, "< 1e-300", r"$< 1 \times 10^{-300}$"),
        (2.954e-21, "2.95e-21", r"$2.95 \times 10^{-21}$"),
        (0.01234, "0.0123", "$0.0123$"),
        (None, "–", "--"),
    ):
        assert (p_text(p), latex_number(p_text(p))) == (text, latex)


def test_tables_have_all_their_forms_and_their_published_values() -> None:
    targets = Targets(TABLES, MODELS)
    tables = (table2_of(targets, CHANCE, "none"), 2), (table3_of(targets, CHANCE), GAINS.height)
    for table, height in tables:
        assert table.frame.height == height and table.published is not None
        assert set(table.published["label"]) == {"Molmo"}
        assert table.markdown.startswith("| Model") and r"\toprule" in table.latex
    assert not table2_of(targets, CHANCE, "items").frame.equals(table2_of(targets, CHANCE, "none").frame)
    assert cells_of(targets).frame.height == 2 * 3 * 2


def test_claims_of_a_run_have_all_verdicts() -> None:
    ids = [f"s/{item}" for item in range(8)]
    table = claims(
        Targets(TABLES, MODELS),
        selection([0.5] * 8, [True] * 8, ids),
        pl.DataFrame({"id": ids, "source": "s", "task": "t"}),
        CHANCE,
        {"fog": "weather", "contrast": "photometric", "spatter": "weather"},
        "Molmo",
        "fog",
        5,
    )
    assert set(table.frame["verdict"]) == {"holds", "does not hold", "not applicable"}
    assert r"\toprule" in table.latex and "- holds (" in table.markdown
