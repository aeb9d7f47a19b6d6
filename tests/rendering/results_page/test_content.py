"""The first screen of the page, its tables and its captions."""

from pathlib import Path

import polars as pl
import pytest
import yaml

from benchc.errors import InputError
from benchc.rendering.declaration import figure, table
from benchc.rendering.results_page.content import (
    MOST_ROWS,
    _in_paper_order,
    caption_html,
    markdown_html,
    page_content,
    table_html,
)
from benchc.rendering.results_page.declaration import LEVEL, Bars, ResultsPage
from benchc.rendering.results_page.html import page_html
from benchc.schemas.models import Model, Models, models_text

SOURCE = {"url": "https://example.org/s.tsv", "md5": "0a"}
CHANCE = {
    "measure": ["accuracy"] * 3,
    "guessing": [0.25] * 3,
    "constant": [0.3] * 3,
    "above_chance": [True, True, False],
    "label_mass": [0.9] * 3,
    "low_label_mass": [False] * 3,
    "ranked": [True, True, False],
}
BARS = Bars(label="RAS", table="tables/main.csv", value="ras", low="low", high="high", chance=0.0)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    root = tmp_path / "results"
    for folder in ("tables", "figures", "sources", "pool"):
        (root / folder).mkdir(parents=True)
    labels = {"a": "Model A", "b": "Model <b>", "c": "Model C"}
    models = Models("bench", {id_: Model(id_, label) for id_, label in labels.items()})
    (root / "models.json").write_text(models_text(models))
    config = {"seed": 3, "corruptions": {"types": ["fog", "blur"], "severities": [1, 2]}}
    (root / "config.yaml").write_text(yaml.safe_dump(config))
    (root / "config-sources.yaml").write_text(
        yaml.safe_dump({"s": {"url": "https://example.org/s.tsv", "md5": "0a"}})
    )
    pl.DataFrame({"model": [*labels.values()], **CHANCE}).write_csv(root / "tables/chance.csv")
    # By id, and by label.
    rows = {
        "model": ["a", "Model <b>", "c"],
        "ras": [-0.2, -0.1, 0.0],
        "low": [-0.3, -0.15, None],
        "high": [-0.18, -0.05, None],
    }
    pl.DataFrame(rows).write_csv(root / "tables/main.csv")
    (root / "tables/main.md").write_text("| Model | RAS |\n| --- | ---: |\n| <i>x</i> | **1** |\n\nA note.\n")
    (root / "sources/s.report.csv").write_text(
        "id,line,kind,reason\ns/1,2,rejected,no image\ns/2,3,rejected,no image\n"
    )
    return root


OUTPUTS = [table("main", "Table 1", inputs={}, caption="**Bold** `a`.", formats=["csv", "md"])]
PAGE = ResultsPage(purpose="It measures.", main_table="main", bars=[BARS])


def test_models_are_in_the_order_of_the_first_number(run: Path) -> None:
    content = page_content(run, PAGE, OUTPUTS)
    assert [(row["id"], row["ranked"]) for row in content["models"]] == [
        ("b", True),
        ("a", True),
        ("c", False),
    ]
    bar = content["models"][1]["bars"][0]
    assert (bar["number"], bar["interval"]) == ("−0.200", "[−0.300, −0.180]")
    # The axis is from -0.3 to 0, so that the bar of -0.2 begins after a third of it and ends at chance.
    assert (bar["x"], bar["width"], bar["chance"]) == (33.33, 66.67, 100.0)
    assert (bar["low"], bar["high"]) == (0.0, 40.0)
    assert content["models"][2]["bars"][0]["low"] is None
    assert content["left_out"] == [
        "s: 2 rows rejected, mostly: no image",
        "Model C: not ranked, since it is not above chance on clean images (table chance)",
    ]
    assert "https://example.org/s.tsv, MD5 0a" in dict(dict(content["made"])["Inputs"])["s"]
    text = page_html("run", "run", [], content)
    assert '<div class="printed scroll"><table>' in text and "<p>A note.</p>" in text
    assert "Model &lt;b&gt;" in text and "<i>" not in text and "<strong>1</strong>" in text


def test_an_interval_of_one_value_is_a_dash(run: Path) -> None:
    path = run / "tables/main.csv"
    pl.read_csv(path).with_columns(low="ras", high="ras").write_csv(path)
    bar = page_content(run, PAGE, OUTPUTS)["models"][0]["bars"][0]
    assert (bar["number"], bar["interval"], bar["low"], bar["high"]) == ("−0.100", "[–]", None, None)


def test_labels_may_be_numbers(run: Path) -> None:
    labels = {"a": "000100", "b": "1.10", "c": "1e3"}
    models = Models("bench", {id_: Model(id_, label) for id_, label in labels.items()})
    (run / "models.json").write_text(models_text(models))
    for name in ("chance", "main"):
        path = run / f"tables/{name}.csv"
        pl.read_csv(path).with_columns(model=pl.Series([*labels.values()])).write_csv(path)
    rows = page_content(run, PAGE, OUTPUTS)["models"]
    assert [(row["id"], row["ranked"], row["bars"][0]["number"]) for row in rows] == [
        ("b", True, "−0.100"),
        ("a", True, "−0.200"),
        ("c", False, "0.000"),
    ]


def test_the_verdict_says_whether_intervals_overlap(run: Path) -> None:
    verdict = page_content(run, PAGE, OUTPUTS)["verdict"]
    assert verdict == (
        "Best by RAS: Model <b>. Its 95 % interval overlaps that of no other ranked model. All ranked models "
        "are above chance on clean images."
    )
    near = pl.read_csv(run / "tables/main.csv").with_columns(high=pl.Series([-0.15, -0.05, None]))
    near.write_csv(run / "tables/main.csv")
    verdict = page_content(run, PAGE, OUTPUTS)["verdict"]
    assert "overlaps that of Model A." in verdict
    chance = pl.read_csv(run / "tables/chance.csv")
    best_below = chance.with_columns(above_chance=pl.Series([True, False, False]))
    best_below.write_csv(run / "tables/chance.csv")
    verdict = page_content(run, PAGE, OUTPUTS)["verdict"]
    assert verdict.endswith("Model A. Model <b> is not above chance on clean images.")
    chance.with_columns(above_chance=pl.Series([True, None, False])).write_csv(run / "tables/chance.csv")
    assert "not above chance" not in page_content(run, PAGE, OUTPUTS)["verdict"]
    chance.write_csv(run / "tables/chance.csv")
    lower = ResultsPage(
        purpose="", bars=[Bars(label="VRE", table="tables/main.csv", value="ras", better="lower")]
    )
    assert page_content(run, lower, OUTPUTS)["verdict"].startswith("Best by VRE: Model A.")


def test_a_wrong_declaration_and_an_absent_file_are_told(run: Path) -> None:
    wrong = ResultsPage(purpose="", bars=[Bars(label="x", table="tables/main.csv", value="vre")])
    with pytest.raises(InputError, match=r"main.csv: it has no column vre; correct the declaration"):
        page_content(run, wrong, OUTPUTS)
    absent = ResultsPage(purpose="", bars=[Bars(label="x", table="tables/none.csv", value="vre")])
    assert page_content(run, absent, OUTPUTS)["bars"] == []


def test_outputs_are_in_the_order_of_the_paper() -> None:
    titles = ["the claims", "Table 10", "Figures 4b and 4c", "Table A.1", "Figure 4a", "Table 2", "figure 3"]
    made = [figure(f"f{number}", title, inputs={}, caption="") for number, title in enumerate(titles)]
    assert [output.title for output in _in_paper_order(made)] == [
        "Table 2",
        "figure 3",
        "Figure 4a",
        "Figures 4b and 4c",
        "Table 10",
        "Table A.1",
        "the claims",
    ]


def test_captions_and_markdown_have_no_html_and_no_links() -> None:
    caption = caption_html(
        "**Bold** <script>x</script>\n\n.. raw:: html\n\n   <b>y</b>\n\n.. include:: /etc/passwd\n"
    )
    assert "<strong>Bold</strong>" in caption and "<script>" not in caption
    assert "<b>" not in caption and "root:" not in caption
    text = markdown_html("| a |\n| --- |\n| <img src=x> [x](javascript:y) ![z](http://z) |\n")
    assert "<img" not in text and "<a" not in text and "<table>" in text


def test_a_long_table_is_shown_in_part(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    frame = pl.DataFrame({"a": ["<b>"] * (MOST_ROWS + 5), "b": [0.123456789] * (MOST_ROWS + 5)})
    frame.write_csv(tmp_path / "tables/long.csv")
    found = table_html(tmp_path, table("long", "long", inputs={}, caption="", formats=["csv"]))
    assert found["html"].count("<tr>") == MOST_ROWS + 1 and "0.1235" in found["html"]
    assert "&lt;b&gt;" in found["html"] and not found["open"]
    assert found["note"] == f"The first {MOST_ROWS} rows; the csv file has all."


def main_table(run: Path, **columns: list[object]) -> None:
    """Change columns of the table of the bars."""
    path = run / "tables/main.csv"
    new = [pl.Series(name, values, strict=False) for name, values in columns.items()]
    pl.read_csv(path).with_columns(new).write_csv(path)


def test_a_model_without_a_number_has_no_bar_and_is_last_of_its_kind(run: Path) -> None:
    main_table(run, ras=[None, float("nan"), 0.5], low=[None, None, float("nan")])
    rows = page_content(run, PAGE, OUTPUTS)["models"]
    # c is not ranked, so it stays below those without a number.
    assert [row["id"] for row in rows] == ["a", "b", "c"]
    assert [row["bars"][0]["number"] for row in rows] == ["", "", "0.500"]
    assert (rows[2]["bars"][0]["low"], rows[2]["bars"][0]["interval"]) == (None, "")
    html = page_html("run", "run", [], page_content(run, PAGE, OUTPUTS))
    assert "nan" not in html.lower().replace("nano", "") and html.count('class="bar-cell"') == 1
    # One model with a number is best of nothing.
    assert page_content(run, PAGE, OUTPUTS)["verdict"] == ""


def test_numbers_that_are_printed_as_0_have_no_bars(run: Path) -> None:
    main_table(run, ras=[-0.0004, 0.0, -0.0], low=[None] * 3, high=[None] * 3)
    bars = [row["bars"][0] for row in page_content(run, PAGE, OUTPUTS)["models"]]
    assert [(bar["number"], bar["width"]) for bar in bars] == [("0.000", 0.4)] * 3
    main_table(run, ras=[-0.001, 0.0, 0.0], low=[None] * 3, high=[None] * 3)
    widths = {row["id"]: row["bars"][0]["width"] for row in page_content(run, PAGE, OUTPUTS)["models"]}
    assert sorted(widths.values()) == [0.4, 0.4, 100.0]


def test_a_verdict_needs_intervals_of_all_and_two_ranked_models(run: Path) -> None:
    main_table(run, low=[None, -0.15, None], high=[None, -0.05, None])
    verdict = page_content(run, PAGE, OUTPUTS)["verdict"]
    assert verdict.startswith("Best by RAS: Model <b>. ") and "interval" not in verdict
    # An interval that is a point is shown as undefined.
    main_table(run, low=[-0.25, -0.1, None], high=[-0.15, -0.1, None])
    assert "interval" not in page_content(run, PAGE, OUTPUTS)["verdict"]
    one = pl.DataFrame({"model": ["Model A", "Model <b>", "Model C"], **CHANCE})
    one.with_columns(ranked=pl.Series([True, False, False])).write_csv(run / "tables/chance.csv")
    content = page_content(run, PAGE, OUTPUTS)
    assert content["verdict"] == "" and content["models"][0]["id"] == "a"


def test_chance_is_that_of_the_table_and_rows_of_other_metrics_are_left_out(run: Path) -> None:
    rows = {
        "model": ["a", "a", "b", "c", "gone"],
        "metric": ["acc", "ras", "acc", "acc", "acc"],
        "corruption": [None, None, None, None, None],
        "value": [0.5, 9.0, 0.25, 1.0, 7.0],
    }
    frame = pl.DataFrame(rows, schema_overrides={"corruption": pl.String})
    # Of one corruption, which the page does not show.
    frame = pl.concat([frame, frame.head(1).with_columns(corruption=pl.lit("fog"), value=pl.lit(8.0))])
    frame.write_csv(run / "tables/long.csv")
    where = {"metric": "acc", "corruption": None}
    bars = Bars(label="accuracy", table="tables/long.csv", value="value", where=where, chance=LEVEL, digits=1)
    content = page_content(run, ResultsPage(bars=[bars]), OUTPUTS)
    shown = [(row["id"], row["bars"][0]["number"], row["bars"][0]["chance"]) for row in content["models"]]
    # The axis is from 0 to 1, not to 9.
    assert shown == [("a", "0.5", 30.0), ("b", "0.2", 30.0), ("c", "1.0", 30.0)]
    assert content["has_chance"]


def test_rows_that_became_no_items_are_counted_and_notes_are_not(run: Path) -> None:
    rows = [*("rejected,no image",) * 2, "rejected,no options", "excluded,a copy", *("note,resized",) * 5]
    lines = [f"s/{number},{number},{row}" for number, row in enumerate(rows)]
    (run / "sources/s.report.csv").write_text("\n".join(["id,line,kind,reason", *lines, ""]))
    (run / "sources/t.report.csv").write_text("id,line,kind,reason\n1,1,note,resized\n")
    (run / "sources/u.report.csv").write_text("")
    assert page_content(run, PAGE, OUTPUTS)["left_out"][:-1] == [
        "s: 3 rows rejected, mostly: no image",
        "s: 1 row excluded, mostly: a copy",
    ]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("0.123456789", "0.1235"),
        ("-0.0000123456", "-1.235e-05"),
        ("123456.123456", "123456.1"),
        ("12", "12"),
        ("1.2345", "1.2345"),
        ("1.23456e-09", "1.235e-09"),
        ("2026.01.234567", "2026.01.234567"),
        ("v1.123456", "v1.123456"),
    ],
)
def test_long_numbers_are_cut_and_texts_are_not(tmp_path: Path, given: str, shown: str) -> None:
    (tmp_path / "tables").mkdir()
    pl.DataFrame({"a": [given]}).write_csv(tmp_path / "tables/one.csv")
    found = table_html(tmp_path, table("one", "one", inputs={}, caption="", formats=["csv"]))
    assert f"<td>{shown}</td>" in found["html"] and found["note"] == ""


def test_links_of_captions_are_to_the_web_alone() -> None:
    caption = caption_html(
        "`go <javascript:alert(1)>`_, `disk <file:///etc/passwd>`_, `web <https://example.org>`_"
    )
    assert "javascript:" not in caption and "file:" not in caption
    assert 'href="https://example.org"' in caption and "go</a>" in caption


def test_one_severity_is_one(run: Path) -> None:
    config = {"seed": 3, "corruptions": {"types": ["fog"], "severities": [4]}}
    (run / "config.yaml").write_text(yaml.safe_dump(config))
    assert "1 corruption at 1 severity" in page_content(run, PAGE, OUTPUTS)["facts"]


def test_no_model_is_best_and_no_reason_is_most_of_them_among_equals(run: Path) -> None:
    rows = {"model": ["a", "b", "c"], "ras": [0.1, 0.1, 0.3], "low": 0.0, "high": 0.2}
    pl.DataFrame(rows).write_csv(run / "tables/main.csv")
    lines = [f"s/{place},{place},rejected,{reason}" for place, reason in enumerate(("x", "y", "x", "z"))]
    (run / "sources/s.report.csv").write_text("\n".join(["id,line,kind,reason", *lines]))
    found = page_content(run, PAGE, OUTPUTS)
    assert found["verdict"] == (
        "Best by RAS, with equal numbers: Model A and Model <b>. All ranked models are above chance on clean "
        "images."
    )
    chance = pl.read_csv(run / "tables/chance.csv")
    for above, text in (
        ([True, False, False], "Model <b>. Model <b> is not above chance"),
        ([False, False, False], "Model <b>. Model A and Model <b> are not above chance"),
    ):
        chance.with_columns(above_chance=pl.Series(above)).write_csv(run / "tables/chance.csv")
        assert f"{text} on clean images." in page_content(run, PAGE, OUTPUTS)["verdict"]
    assert found["left_out"][0] == "s: 4 rows rejected, most often: x"
    (run / "sources/s.report.csv").write_text("\n".join(["id,line,kind,reason", lines[1], lines[0]]))
    assert page_content(run, PAGE, OUTPUTS)["left_out"][0] == "s: 2 rows rejected, for example: y"
