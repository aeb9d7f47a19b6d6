"""The declarations of tables and figures fit the functions that make them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchc.benchmarks.mllm_ic.figure_outputs import figure_outputs
from benchc.benchmarks.mllm_ic.settings import Corruptions, Figures, Settings, Tables
from benchc.benchmarks.mllm_ic.table_outputs import table_outputs
from benchc.corruptions.suites.mllm_ic import MLLM_IC
from benchc.rendering.declaration import Output
from benchc.rendering.output import function_of, inputs_of, settings_of
from tests.benchmarks.mllm_ic.made_up import CATEGORIES

LABELS = {"tiny": "Tiny", "mine": "Mine"}


def declared(labels: dict[str, str] = LABELS, **figures: object) -> dict[str, Output]:
    """Return the tables and figures by name of a run with the default settings, but those of figures."""
    corruptions = Corruptions(suite="mllm-ic", types=[*CATEGORIES])
    given = {"corruptions": corruptions, "tables": Tables(), "figures": Figures.model_validate(figures)}
    settings = Settings.model_construct(**given)  # type: ignore[arg-type]
    run: Any = SimpleNamespace(images=SimpleNamespace(suite=MLLM_IC, groups=CATEGORIES))
    every = [*table_outputs(run, settings, labels), *figure_outputs(run, settings, labels)]
    return {output.name: output for output in every}


@pytest.mark.parametrize("name", declared())
def test_a_declaration_gives_what_its_function_takes(name: str) -> None:
    output = declared()[name]
    function = function_of(output.module("mllm_ic"))
    assert set(output.inputs) == set(inputs_of(function))
    assert set(output.settings) == set(settings_of(function))
    assert all((Path(__file__).resolve().parents[3] / path).is_file() for path in output.data)


def test_every_table_has_all_models_and_the_categories_of_the_run() -> None:
    for output in declared().values():
        if output.kind == "figure":
            continue
        assert output.inputs["outcomes"] == [f"<results>/outcomes/{id_}.parquet" for id_ in LABELS]
        assert output.settings.get("labels", LABELS) == LABELS
        assert output.settings.get("categories", CATEGORIES) == CATEGORIES


def test_radars_leave_out_the_models_that_settings_name_and_say_so() -> None:
    figures = declared(left_out=["mine"])
    for name in ("figure6", "figure7", "figure8", "figure9"):
        assert figures[name].inputs["outcomes"] == ["<results>/outcomes/tiny.parquet"]
        assert figures[name].settings["labels"] == {"tiny": "Tiny"}
        assert "Without Mine" in figures[name].caption and "Without" not in declared()[name].caption
    assert figures["figure4"].settings["labels"] == LABELS


def test_figures_5_and_10_show_what_the_paper_has_unless_settings_name_others() -> None:
    assert declared()["figure5"].settings["types"] == ["motion_blur", "snow", "gaussian_noise"]
    assert declared(figure5={"types": ["fog"]})["figure5"].settings["types"] == ["fog"]
    assert declared()["figure10"].settings["labels"] == {"tiny": "Tiny"}
    paper = {"deepseek-vl-7b-chat": "DeepSeek"}
    figure10 = declared(LABELS | paper)["figure10"]
    assert figure10.settings["labels"] == paper and "accuracy of DeepSeek" in figure10.caption
    assert figure10.inputs["outcomes"] == ["<results>/outcomes/deepseek-vl-7b-chat.parquet"]
    named = declared(LABELS | paper, figure10={"model": "mine"})["figure10"]
    assert named.settings["labels"] == {"mine": "Mine"}
