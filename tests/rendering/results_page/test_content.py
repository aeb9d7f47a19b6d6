"""The first screen of the page, its tables and its captions."""

from pathlib import Path

import polars as pl
import pytest
import yaml

from benchc.errors import InputError
from benchc.rendering.declaration import figure, table
from benchc.rendering.results_page.content import (
    MOST_ROWS,
    RunFiles,
    _in_paper_order,
    caption_html,
    markdown_html,
    page_content,
    table_html,
)
from benchc.rendering.results_page.declaration import Bars, ResultsPage
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
def run(tmp_path: Path) -> RunFiles:
    root, logs = tmp_path / "results", tmp_path / "logs"
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
    (logs / "infer").mkdir(parents=True)
    for name, seconds in (("infer/a", 90), ("infer/b", 31), ("score", 2)):
        (logs / f"{name}.jsonl").write_text(f'{{"s": {seconds}}}\n')
    (logs / "broken.jsonl").write_text("\n")
    return RunFiles(root, logs)


OUTPUTS = [table("main", "Table 1", inputs={}, caption="**Bold** `a`.", formats=["csv", "md"])]
PAGE = ResultsPage(purpose="It measures.", main_table="main", bars=[BARS])


def test_models_are_in_the_order_of_the_first_number(run: RunFiles) -> None:
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
    assert ("infer", "2 min 1 s in 2 jobs") in dict(content["made"])["Cost by stage"]
    assert "https://example.org/s.tsv, MD5 0a" in dict(dict(content["made"])["Inputs"])["s"]
    text = page_html("run", "run", [], content)
    assert '<div class="printed scroll"><table>' in text and "<p>A note.</p>" in text
    assert "Model &lt;b&gt;" in text and "<i>" not in text and "<strong>1</strong>" in text


def test_the_verdict_says_whether_intervals_overlap(run: RunFiles) -> None:
    verdict = page_content(run, PAGE, OUTPUTS)["verdict"]
    assert verdict == (
        "Best by RAS: Model <b>. Its 95 % interval overlaps that of no other ranked model. All ranked models "
        "are above chance on clean images."
    )
    near = pl.read_csv(run.root / "tables/main.csv").with_columns(high=pl.Series([-0.15, -0.05, None]))
    near.write_csv(run.root / "tables/main.csv")
    verdict = page_content(run, PAGE, OUTPUTS)["verdict"]
    assert "overlaps that of Model A, and does not separate them." in verdict
    lower = ResultsPage(
        purpose="", bars=[Bars(label="VRE", table="tables/main.csv", value="ras", better="lower")]
    )
    assert page_content(run, lower, OUTPUTS)["verdict"].startswith("Best by VRE: Model A.")


def test_a_wrong_declaration_and_an_absent_file_are_told(run: RunFiles) -> None:
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
