"""The declarations of tables fit the functions that make them."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from benchc.benchmarks.mllm_ic.settings import Corruptions, Settings, Tables
from benchc.benchmarks.mllm_ic.table_outputs import table_outputs
from benchc.corruptions.suites.mllm_ic import MLLM_IC
from benchc.rendering.declaration import Output
from benchc.rendering.output import function_of, inputs_of, settings_of
from tests.benchmarks.mllm_ic.made_up import CATEGORIES

LABELS = {"tiny": "Tiny", "mine": "Mine"}


def declared() -> dict[str, Output]:
    """Return the tables by name of a run with the default settings."""
    corruptions = Corruptions(suite="mllm-ic", types=[*CATEGORIES])
    settings = Settings.model_construct(corruptions=corruptions, tables=Tables())
    run = SimpleNamespace(images=SimpleNamespace(suite=MLLM_IC))
    return {output.name: output for output in table_outputs(run, settings, LABELS)}  # type: ignore[arg-type]


@pytest.mark.parametrize("name", declared())
def test_a_declaration_gives_what_its_function_takes(name: str) -> None:
    output = declared()[name]
    function = function_of(output.module("mllm_ic"))
    assert set(output.inputs) == set(inputs_of(function))
    assert set(output.settings) == set(settings_of(function))
    assert all((Path(__file__).resolve().parents[3] / path).is_file() for path in output.data)


def test_every_table_has_all_models_and_the_categories_of_the_run() -> None:
    for output in declared().values():
        assert output.inputs["outcomes"] == [f"<results>/outcomes/{id_}.parquet" for id_ in LABELS]
        assert output.settings.get("labels", LABELS) == LABELS
        assert output.settings.get("categories", CATEGORIES) == CATEGORIES
