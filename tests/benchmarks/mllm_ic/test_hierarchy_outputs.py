"""The declarations of Figure 3 and of the cube explorer fit the functions that make them."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from benchc.benchmarks.mllm_ic.hierarchy_outputs import hierarchy_outputs
from benchc.benchmarks.mllm_ic.settings import Corruptions, Hierarchy, Settings, Tables
from benchc.corruptions.suites.mllm_ic import MLLM_IC
from benchc.rendering.declaration import Output
from benchc.rendering.output import function_of, inputs_of, settings_of
from tests.benchmarks.mllm_ic.made_up import CATEGORIES, LEVELS

LABELS = {"tiny": "Tiny", "mine": "Mine"}


def declared(hierarchy: Hierarchy | None) -> dict[str, Output]:
    corruptions = Corruptions(suite="mllm-ic", types=[*CATEGORIES])
    settings = Settings.model_construct(corruptions=corruptions, tables=Tables(), hierarchy=hierarchy)
    run = SimpleNamespace(images=SimpleNamespace(suite=MLLM_IC, groups=CATEGORIES))
    return {output.name: output for output in hierarchy_outputs(run, settings, LABELS)}  # type: ignore[arg-type]


@pytest.mark.parametrize("name", declared(Hierarchy()))
def test_a_declaration_gives_what_its_function_takes(name: str) -> None:
    output = declared(Hierarchy())[name]
    function = function_of(output.module("mllm_ic"))
    assert set(output.inputs) == set(inputs_of(function))
    assert set(output.settings) == set(settings_of(function))
    assert all((Path(__file__).resolve().parents[3] / path).is_file() for path in output.data)


def test_without_hierarchy_the_explorer_is_left() -> None:
    (explorer,) = declared(None).values()
    assert explorer.settings["levels"] == LEVELS and explorer.settings["categories"] == CATEGORIES


def test_the_caption_names_the_pictures() -> None:
    cifar = Hierarchy(images="cifar.tar.gz", weights="wrn.pt")
    assert "of CIFAR-10 and a WRN-40-2" in declared(cifar)["figure3"].caption
    assert "pictures of the pool" in declared(Hierarchy())["figure3"].caption
