from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.r_bench.chance import TaskChance
from benchc.benchmarks.r_bench.claims import Evidence, claims
from benchc.benchmarks.r_bench.settings import Corruptions, Judged, Settings, Tables
from benchc.benchmarks.r_bench.table_outputs import PEOPLE, table_outputs
from benchc.rendering.output import function_of, inputs_of, settings_of
from benchc.rendering.verdicts import FAILS, HOLDS

# R_a and R_r by model and part.
Scores = dict[str, dict[str, tuple[float, float]]]
FALLING = {"low": (0.6, 0.6), "mid": (0.5, 0.5), "high": (0.4, 0.4)}


def verdict(start: str, axis: str, scores: Scores) -> str:
    rows = [(model, axis, part, *pair) for model, parts in scores.items() for part, pair in parts.items()]
    means = pl.DataFrame(rows, schema=["model", "axis", "part", "absolute", "relative"], orient="row")
    table = claims(Evidence(means, ["closed"])).filter(pl.col("claim").str.starts_with(start))
    return str(table["verdict"].item())


@pytest.mark.parametrize(("relative", "expected"), [(0.2, HOLDS), (0.9, FAILS)])
def test_open_models_are_better_relatively(relative: float, expected: str) -> None:
    scores = {"a": {"overall": (0.4, 0.4)}, "b": {"overall": (0.6, 0.3)}}
    scores["closed"] = {"overall": (0.5, relative)}
    assert verdict("Open models", "overall", scores) == expected


@pytest.mark.parametrize(("vqa", "expected"), [(0.5, HOLDS), (0.7, FAILS)])
def test_all_models_have_one_order_of_tasks(vqa: float, expected: str) -> None:
    first = {"mcq": (0.6, 0.0), "vqa": (0.5, 0.0), "cap": (0.4, 0.0)}
    scores: Scores = {"a": first, "b": first | {"vqa": (vqa, 0.0)}}
    assert verdict("All models", "task", scores) == expected


@pytest.mark.parametrize(
    ("mid", "expected"), [((0.5, 0.5), HOLDS), ((0.7, 0.5), FAILS), ((0.5, 0.7), FAILS), ((0.3, 0.5), FAILS)]
)
def test_both_scores_fall_at_each_strength(mid: tuple[float, float], expected: str) -> None:
    parts = (FALLING | {"mid": mid}).items()
    cells = [(f"{task}_{part}", pair) for task in ("mcq", "vqa", "cap") for part, pair in parts]
    rows = [("a", "strength", part, *pair) for part, pair in parts]
    rows += [("a", "cell", part, *pair) for part, pair in cells]
    means = pl.DataFrame(rows, schema=["model", "axis", "part", "absolute", "relative"], orient="row")
    table = claims(Evidence(means, [])).filter(pl.col("claim").str.starts_with("The stronger"))
    assert table["verdict"].item() == expected


def test_a_model_above_chance_in_one_task_is_above_chance() -> None:
    rows = [("a", "mcq", False), ("a", "vqa", True), ("b", "mcq", False), ("b", "vqa", False)]
    frame = pl.DataFrame(rows, schema=["model", "task", "above_chance"], orient="row")
    found = TaskChance(frame).models.frame
    assert found.select("model", "above_chance").rows() == [("a", True), ("b", False)]


LABELS = {"tiny": "Tiny", "authors": "Authors'"}
FILES = {kind: f"{kind}.csv" for kind in ("dis", "ref", "com")}


def declared(**given):
    """Return the tables by name of a run with these settings; the others are the defaults."""
    chosen = {"pairs": "generated", "people": [], "judgements_from": {}} | given
    settings = Settings.model_construct(corruptions=Corruptions(suite="r-bench"), tables=Tables(), **chosen)
    return {output.name: output for output in table_outputs(None, settings, LABELS)}


@pytest.mark.parametrize("name", declared())
def test_a_declaration_gives_what_its_function_takes(name):
    output = declared()[name]
    function = function_of(output.module("r_bench"))
    assert set(output.inputs) == set(inputs_of(function))
    assert set(output.settings) == set(settings_of(function))
    assert all((Path(__file__).resolve().parents[3] / path).is_file() for path in output.data)


def test_published_judgements_are_no_single_ones_and_may_be_compared():
    authors = Judged(label="Authors'", replies_of="tiny", **FILES)
    output = declared(judgements_from={"authors": authors})["judge_agreement"]
    assert output.inputs["judgements"] == ["<results>/judge_scores/tiny.parquet"]
    assert len(output.inputs["scores"]) == 2
    assert output.settings["same_replies"] == [["tiny", "authors"]]
    outputs = declared(people=["a.csv", "b.csv", "c.csv"], pairs="released")
    assert outputs["table4"].inputs["people"] == [PEOPLE]
    assert outputs["composition"].settings["by"] == "l2_category"
    assert declared()["table4"].inputs["people"] == []
