"""Tables and figures of runs with undefined statistics: numbers or reasons, no NaN."""

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from matplotlib.text import Text

from benchc.benchmarks.bench_c.claims.table import ALL, CLAIMS
from benchc.errors import InputError
from benchc.rendering.verdicts import FAILS, HOLDS, NOT_APPLICABLE
from scripts.benchc import main
from tests.benchmarks.bench_c.degenerate_runs import Run, drawn, make_run_folder
from tests.rendering.latex import check_latex

NOT_A_NUMBER = re.compile(r"\b(nan|NaN|inf|null|None(?! of the models))\b")


def same_everywhere(model: int, item: int, corruption: int, severity: int) -> list[float]:
    return [2.0, 1.0, 0.0]


LABEL = r"Öl_1 & 50% #2 {a} ~^\ $x$ <|>"
RUNS = {
    "usual": Run(),
    "all kappas zero": Run(kappas=[0.0] * 4),
    "all kappas equal but for a rounding": Run(kappas=[0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2]),
    "one item": Run(items=1),
    "one model": Run(models=["one"]),
    "one severity, not the mildest": Run(severities=[3]),
    "one corruption": Run(corruptions=["fog"]),
    "all predictions equal": Run(logits=same_everywhere),
    "all models equal": Run(
        logits=lambda _, item, corruption, severity: drawn(0, item, corruption, severity)
    ),
    "predictions that no corruption moves": Run(logits=lambda model, item, *_: drawn(model, item, -1, 0)),
    "separated models": Run(logits=lambda model, *cell: [3.0 * model, *drawn(model, *cell)[1:]]),
    "one of everything": Run(1, ["one"], ["fog"], [1], [0.0], same_everywhere),
}
TABLES = ("table1", "table2", "table3", "cells", "claims", "intervals", "rank_swaps", "task_accuracy")
OF_SCORES = ("figure3", "figure4", "figure5", "figure6", "figure10")
OF_SELECTION = ("figure1a", "figure7", "figure8", "figure9")
SELECTIONS = ("usual", "all kappas zero", "all kappas equal but for a rounding", "one of everything")


@pytest.fixture(scope="module", params=RUNS, ids=lambda name: name.replace(" ", "-"))
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    """A scored run, and its folder."""
    folder = tmp_path_factory.mktemp("run")
    run = replace(RUNS[request.param], first_label=LABEL)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run.write(folder)
        run.score()
    return run, folder


@pytest.fixture
def run(made: tuple[Run, Path], monkeypatch: pytest.MonkeyPatch) -> Run:
    """A scored run, in the working directory."""
    monkeypatch.chdir(made[1])
    return made[0]


@pytest.mark.filterwarnings("error")
def test_tables_contain_numbers_dashes_and_reasons(run: Run):
    tables = {name: run.output(name) for name in TABLES}
    for name, table in tables.items():
        assert table.frame.columns and (name == "cells" or (table.markdown and table.latex)), name
        assert (table.published is not None) == (name in ("table1", "table2", "table3")), name
        published = [] if table.published is None else [table.published.write_csv()]
        for text in (table.frame.write_csv(), table.markdown, table.latex, *published):
            assert not NOT_A_NUMBER.search(text), name
        problems, packages = check_latex(table.latex)
        assert problems == [] and packages <= {"booktabs", "longtable", "array", "amssymb"}, name
    assert any(r"Öl\_1 \& 50\% \#2 \{a\}" in table.latex for table in tables.values())
    for name in ("intervals", "rank_swaps", "table2"):
        optional = {"corruption", "severity", "note"} if name == "intervals" else {"note"}
        for row in tables[name].frame.iter_rows(named=True):
            values = [value for key, value in row.items() if key not in optional]
            assert row["note"] or all(value not in (None, "") for value in values), (name, row)
    frame = tables["claims"].frame
    assert sorted(frame["claim"]) == sorted(claim.text for claim in ALL)
    assert set(frame["verdict"]) <= {HOLDS, FAILS, NOT_APPLICABLE}
    assert dict(frame.schema) == CLAIMS and not frame["here"].str.contains("^$").any()
    # Ties are ties in all tables, though their sums are rounded in different ways.
    table1, intervals, pairs = (tables[name].frame for name in ("table1", "intervals", "rank_swaps"))
    for metric in ("delta_acc", "ras"):
        ranks = dict(intervals.filter(metric=f"rank_{metric}", weighting="kappa")["model", "estimate"].rows())
        assert ranks == dict(table1["model", f"rank_{metric}"].rows())
        for row in pairs.filter(pl.col("opposite").fill_null(False)).iter_rows(named=True):
            assert ranks[row["model_a"]] != ranks[row["model_b"]]
    plural = re.compile(r"\b1 (items|pairs|cases|targets|models|draws|corruptions)\b")
    assert not any(plural.search(table.markdown + table.summary) for table in tables.values())
    undefined = table1["ras"].null_count() > 0
    for text in (tables["table1"].markdown, tables["table1"].latex):
        assert ("undefined" in " ".join(text.split())) == undefined


REASONS = {
    "all predictions equal": {
        "most accurate model has the lowest RAS": "the same clean accuracy, or the same RAS",
        "least accurate model loses less": "the same clean accuracy",
        "Of the groups, blur degrades most": "all groups have the same mean RAS",
        "Blur hurts destructive robustness": "the same mean destructive RAS",
        "For every model, p < 0.001": "the test is defined for no model",
    },
    "all kappas zero": {
        "do not order the models alike": "all items have kappa 0",
        "Falcon2-VLM beats": "all items have kappa 0",
    },
    "all kappas equal but for a rounding": {"kappa is higher and more balanced": "kappa is the same for all"},
    "one severity, not the mildest": {"Some corruptions raise accuracy": "severity 1 is not in this run"},
    "one model": {"do not order the models alike": "one model has no order"},
}


@pytest.mark.parametrize("made", REASONS, indirect=True)
def test_a_claim_that_cannot_be_checked_says_why(run: Run, request: pytest.FixtureRequest):
    found = run.output("claims").frame
    for word, reason in REASONS[request.node.callspec.params["made"]].items():
        row = found.filter(pl.col("claim").str.contains(word, literal=True))
        assert row["verdict"].to_list() == ["not applicable"]
        assert reason in row["here"][0]


@pytest.mark.filterwarnings("error")
def test_figures_draw_no_nan(run: Run, request: pytest.FixtureRequest):
    names = OF_SCORES if run.kappas is None else ()
    names += OF_SELECTION if request.node.callspec.params["made"] in SELECTIONS else ()
    for name in names:
        figure = run.output(name)
        figure.draw_without_rendering()
        for text in figure.findobj(Text):
            assert not NOT_A_NUMBER.search(text.get_text()), name


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (Run(logits=same_everywhere), "all 4 items have kappa 0: .* there is nothing to select"),
        (Run(severities=[3]), "severity 3 alone gives every item kappa 0"),
        (Run(items=1), "all items with kappa > 0 .1. have the final score"),
        (Run(logits=lambda model, item, *cell: drawn(model, 0, *cell)), None),  # all kappas equal
        (Run(models=["one"]), None),
        (Run(corruptions=["fog"]), None),
        (Run(severities=[1, 5]), None),
    ],
    ids=lambda value: None if isinstance(value, Run) else str(value)[:12],
)
@pytest.mark.filterwarnings("error")
def test_selection_selects_or_says_why_not(
    run: Run, message: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    run.write(tmp_path)
    if message:
        with pytest.raises(InputError, match=message):
            run.output("selection_stability")
        with pytest.raises(InputError, match=message):
            run.select()
        assert not Path("out").exists()
        return
    run.select()
    assert pl.read_parquet("out/selected.parquet")["selected"].any()
    table = run.output("selection_stability")
    for text in (table.frame.write_csv(), table.markdown, table.latex):
        assert not NOT_A_NUMBER.search(text)
    values = ("selected", "jaccard", "kappa_selected_mean")
    for row in table.frame.iter_rows(named=True):
        assert row["note"] or None not in [row[name] for name in values]


def test_two_runs_of_one_item_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    run = Run(items=1, models=["one"], corruptions=["fog"], severities=[1])
    for name in "ab":
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        run.write(tmp_path / name)
        run.score()
        make_run_folder()
    monkeypatch.chdir(tmp_path)
    main(["compare", "a", "b", "--draws", "5", "--output", "d.csv"])
    assert not NOT_A_NUMBER.search(capsys.readouterr().out)
    rows = pl.read_csv("d.csv")
    undefined = rows.filter(pl.col("low").is_null())
    assert undefined.height == rows.height and rows["note"].null_count() == 0
    assert set(rows["difference"].drop_nulls()) == {0.0}
