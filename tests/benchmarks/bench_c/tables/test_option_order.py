import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.option_order import measure_predictions, option_order
from benchc.benchmarks.bench_c.tables.option_order import printed_option_order
from benchc.rendering.output import Table
from tests.benchmarks.bench_c.metrics.order_tables import drawn_predictions, items_of
from tests.benchmarks.bench_c.outputs import flat, rows_of
from tests.standings import standings_of

SCORINGS = {"One & Co": "letter", "Two": "text", "Three": "text_mean"}


def made(options: list[int], labels=tuple(SCORINGS), corruptions=("fog", "snow")) -> pl.DataFrame:
    items = items_of(options)
    measures = {
        label: measure_predictions(drawn_predictions(items, seed, corruptions), items)
        for seed, label in enumerate(labels)
    }
    return option_order(measures, SCORINGS, draws=40)


def printed(table: pl.DataFrame, note: str = "", below: tuple[str, ...] = ()) -> Table:
    return printed_option_order(table, standings_of([*SCORINGS], below), 40, note)


@pytest.mark.parametrize("below", [(), ("Two",)])
def test_each_cell_is_the_tables_value_and_a_model_that_is_not_above_chance_is_marked(below):
    table = made([2, 3, 4, 5, 4] * 3)
    markdown = printed(table, below=below).markdown
    note = "†: Acc(o) of Table 1 is not above chance. Models with a mark have no rank."
    assert (note in flat(markdown)) == bool(below)
    shown = rows_of(markdown)[2:8]
    names = [f"{label} †" if label in below else label for label in SCORINGS]
    assert [cells[:2] for cells in shown] == [
        cells for label in names for cells in ([label, "clean"], ["", "corrupted"])
    ]
    rows = table.filter(pl.col("corruption").is_null() | (pl.col("corruption") == "clean"))
    names = ["entropy", "entropy_orders", "order_part", "order_part_low", "order_part_high", "changed"]
    names += ["same_place", "accuracy", "accuracy_circular", "spearman"]
    for cells, row in zip(shown, rows.iter_rows(named=True), strict=True):
        numbers = " ".join(cells[2:]).translate(str.maketrans("[],", "   ")).split()
        assert [*map(float, numbers)] == pytest.approx([row[name] for name in names], abs=5.1e-4)


def test_the_caption_names_sizes_and_the_models_that_see_no_options():
    caption = flat(printed(made([2, 3, 4, 5, 4] * 3), " On fewer.").markdown.split("\n\n")[1])
    assert caption.startswith("Effect of the order of the options. 15 items of the benchmark")
    assert "clean and under 2 corruptions at severity 5." in caption
    assert "from 40 resamples" in caption and caption.endswith(" On fewer.")
    assert "Two and Three are scored by the options' texts, which their prompt does not list" in caption
    assert "undefined" not in caption
    one = flat(printed(made([2, 3], ("One & Co",), ("fog",))).markdown)
    assert "options' texts" not in one and "under 1 corruption at" in one
    two = flat(printed(made([2, 3], ("Two",))).markdown)
    assert "Two is scored by the options' texts, which its prompt does not list" in two


def test_latex_escapes_and_shows_what_is_undefined_as_a_dash():
    text = printed(made([3])).latex
    assert r"One \& Co" in text and r"\ [\textrm{--}]$" in text and "--: undefined" in text
    assert r"\footnotesize" in text.split(r"\label")[1].split(r"\begin{tabular}")[0]
    assert r"95\,\%" in text and r"$\rho$" in text and r"$\kappa$" in text
    for wrong in ("–", "ρ", "κ", "nan", "None", " %"):
        assert wrong not in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 7 and {line.count("&") - line.count(r"\&") for line in rows} == {9}
