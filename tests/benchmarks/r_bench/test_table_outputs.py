"""The declarations of tables fit the functions that make them."""

from pathlib import Path

import pytest

from benchc.benchmarks.r_bench.settings import Corruptions, Judged, Settings, Tables
from benchc.benchmarks.r_bench.table_outputs import PEOPLE, table_outputs
from benchc.rendering.output import function_of, inputs_of, settings_of

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


def test_people_and_the_source_of_released_pairs():
    outputs = declared(people=["a.csv", "b.csv", "c.csv"], pairs="released")
    assert outputs["table4"].inputs["people"] == [PEOPLE]
    assert outputs["composition"].settings["by"] == "l2_category"
    assert declared()["table4"].inputs["people"] == []
