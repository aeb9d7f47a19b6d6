import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.option_order import measure_predictions, option_order
from benchc.benchmarks.bench_c.tables.option_order import printed_option_order
from benchc.rendering.output import Table
from tests.benchmarks.bench_c.metrics.order_tables import drawn_predictions, items_of
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


def test_a_model_that_is_not_above_chance_is_marked():
    markdown = printed(made([2, 3, 4, 5, 4] * 3), below=("Two",)).markdown
    names = [line.split("|")[1].strip() for line in markdown.splitlines()[2:8]]
    assert names == ["One & Co", "", "Two †", "", "Three", ""]
    assert "†: Acc(o) of Table 1 is not above chance. Models with a mark have no rank." in markdown.replace(
        "\n", " "
    )


def test_each_cell_is_the_tables_value():
    table = made([2, 3, 4, 5, 4] * 3)
    lines = printed(table).markdown.splitlines()
    shown = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:8]]
    assert [cells[:2] for cells in shown] == [
        cells for label in SCORINGS for cells in ([label, "clean"], ["", "corrupted"])
    ]
    rows = table.filter(pl.col("corruption").is_null() | (pl.col("corruption") == "clean"))
    for cells, row in zip(shown, rows.iter_rows(named=True), strict=True):
        numbers = [
            float(part) for cell in cells[2:] for part in cell.translate(str.maketrans("[],", "   ")).split()
        ]
        names = ["entropy", "entropy_orders", "order_part", "order_part_low", "order_part_high", "changed"]
        names += ["same_place", "accuracy", "accuracy_circular"]
        assert numbers == pytest.approx([row[name] for name in [*names, "spearman"]], abs=5.1e-4)


def test_the_caption_names_sizes_and_the_models_that_see_no_options():
    caption = " ".join(printed(made([2, 3, 4, 5, 4] * 3), " On fewer.").markdown.split("\n\n")[1].split())
    assert caption.startswith("Effect of the order of the options. 15 items of the benchmark")
    assert "clean and under 2 corruptions at severity 5." in caption
    assert "from 40 resamples" in caption and caption.endswith(" On fewer.")
    assert "Two and Three are scored by the options' texts, which their prompt does not list" in caption
    assert "undefined" not in caption
    one = " ".join(printed(made([2, 3], ("One & Co",), ("fog",))).markdown.split())
    assert "options' texts" not in one and "under 1 corruption at" in one
    two = " ".join(printed(made([2, 3], ("Two",))).markdown.split())
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
