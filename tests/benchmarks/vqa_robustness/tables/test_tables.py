import numpy as np
import pytest

from benchc.benchmarks.vqa_robustness.metrics.drops import drops
from benchc.benchmarks.vqa_robustness.metrics.severity import METRICS
from benchc.benchmarks.vqa_robustness.metrics.severity import severity_metrics as metrics_of
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale
from benchc.benchmarks.vqa_robustness.published.tables import published_table_a1
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors, read_errors
from benchc.benchmarks.vqa_robustness.tables.relative_drops import relative_drops
from benchc.benchmarks.vqa_robustness.tables.severity_metrics import severity_metrics
from benchc.benchmarks.vqa_robustness.tables.table_a1 import table_a1
from benchc.benchmarks.vqa_robustness.tables.weightings import weightings
from tests.benchmarks.printed import cells, text_of
from tests.benchmarks.vqa_robustness.published import vre_of
from tests.rendering.latex import check_latex
from tests.standings import standings_of


@pytest.fixture
def paper(tmp_path):
    """The path of Table A.1 with our names."""
    published_table_a1().write_csv(tmp_path / "paper.csv")
    return tmp_path / "paper.csv"


PAPER = standings_of(list(dict.fromkeys(published_table_a1()["model"])), guessing=None, constant=0.2)


def test_table_a1_marks_the_extremes_that_its_caption_names(paper):
    table = table_a1(read_errors(paper), PAPER)
    header, chance, *rows = cells(table.markdown)
    assert chance[:3] == ["Always B", "all", "0.800"]
    assert header[:3] == ["Model", "Level", "shot noise"] and len(rows) == 36
    for row in rows:
        lowest = {name for name, cell in zip(header, row, strict=True) if cell.startswith("**")}
        highest = {name for name, cell in zip(header, row, strict=True) if cell.strip("*") != cell} - lowest
        if row[1] == "0":
            assert not lowest | highest
        else:
            assert lowest <= {"brightness", "pixelate", "jpeg compression"} and lowest
            assert highest <= {"shot noise", "zoom blur"} and highest
    assert rows[1][2:5] == ["0.326", "0.290", "0.297"]
    assert table.published.height == 504 and table.published["difference"].abs().max() == 0
    assert check_latex(table.latex) == ([], {"booktabs"})


def test_a_row_of_equal_errors_has_no_extremes_and_an_undefined_metric_is_named():
    values = np.full((1, 2, 6), 0.5)
    values[0, 1, 3] = 0.25
    # A table from elsewhere may have several clean errors.
    values[0, 1, 0] = 0.4
    _, _, *rows = cells(table_a1(Errors(("m",), ("x", "y"), values), standings_of("m")).markdown)
    assert rows[0][2:] == ["0.500", "0.400"]
    assert rows[2][2:] == ["0.500", "0.500"] and rows[3][2:] == ["*0.500*", "**0.250**"]
    two = text_of(table_a1(Errors(("m",), ("x", "y"), values), standings_of("m")))
    one = text_of(table_a1(Errors(("m",), ("x",), values[:, :1]), standings_of("m")))
    assert "is in bold" in two and "is in bold" not in one and "level 0 is clean. The first row" in one
    values = np.full((2, 2, 6), 0.5)
    values[1, 1, 0] = 0
    table = severity_metrics(Errors(("a", "b"), ("x", "y"), values))
    note = "b has no VRE: its First-Drop under y is undefined, since an error there is 0."
    assert note in text_of(table)
    assert table.frame.filter(model="b", corruption="y")["first_drop"].item() is None


def test_curves_that_fall_are_counted(paper):
    table = severity_metrics(read_errors(paper))
    assert table.frame["monotone"].sum() == 81 and table.summary == "81 of 84 curves never fall"
    assert table.frame.filter(~table.frame["monotone"])["model"].unique().to_list() == ["ViLT"]
    row = table.frame.filter(model="BLIP", corruption="snow").row(0, named=True)
    curve = published_table_a1().filter(model="BLIP", corruption="snow")["error"].to_numpy()
    assert [row[name] for name in METRICS] == pytest.approx(metrics_of(curve).tolist())
    assert row["falls"] == 0


def test_ranks_under_the_six_weightings(paper, tmp_path):
    table = weightings(read_errors(paper), PAPER, [])
    assert table.frame.height == 36
    found = table.frame.filter(weighting="average_error").sort("rank")["model"].to_list()
    assert found == ["LLaVA-7B", "LLaVA-13B", "BLIP", "VLE", "ViLT", "PNP"]
    (row,) = (row for row in cells(table.markdown) if row[0] == "ViLT")
    assert row[1] == "0.230 (1)" and row[5].endswith("(5)")
    # A frozen scale, here of other models.
    other = tmp_path / "other.csv"
    published_table_a1().filter(model="PNP").write_csv(other)
    frozen = weightings(read_errors(paper), PAPER, [other]).frame
    errors = read_errors(paper)
    expected = vre_of(errors.values, scale=Scale.of(metrics_of(errors.values[3:4]))).model
    np.testing.assert_allclose(frozen.filter(weighting="equal")["vre"], expected)


def test_relative_drops(paper):
    errors = read_errors(paper)
    table, found = relative_drops(errors, PAPER).frame, drops(errors.values)
    assert table["kind"].to_list() == ["model"] * 6 + ["corruption"] * 14
    np.testing.assert_allclose(table["relative_drop"][:6], found.model_drop, atol=1e-9)
    np.testing.assert_allclose(table["relative_drop"][6:], found.corruption_drop, atol=1e-9)
    np.testing.assert_allclose(table["accuracy"], [*found.model, *found.corruption], atol=1e-9)
    np.testing.assert_allclose(table["clean_accuracy"][6:], found.clean.mean(), atol=1e-9)
    shown = cells(relative_drops(errors, PAPER).markdown)
    assert shown[1] == ["chance", "Always B", "0.200", "0.200", "0.000"]
    assert [row[1] for row in shown[8:10]] == ["shot noise", "gaussian noise"]
