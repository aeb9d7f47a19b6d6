import json
from pathlib import Path

import pytest
import yaml

from benchc.config.load import load
from benchc.errors import InputError
from benchc.schemas.models import Model, Models, models_text, read_models
from benchc.workflow.run import Run

FOUND = Models("bench", {"z-7b": Model("z-7b", "Zé 7B", 2024, 7.0), "a-1b": Model("a-1b", "A", None, None)})


def test_the_file_round_trips_in_order(tmp_path):
    path = tmp_path / "models.json"
    path.write_text(models_text(FOUND), encoding="utf-8")
    assert read_models(path) == FOUND
    assert list(read_models(path).models) == ["z-7b", "a-1b"]
    assert models_text(Models("b", {"m": Model("m", "é", 2024, 7)})) == (
        '{\n  "benchmark": "b",\n  "models": {\n    "m": {\n      "label": "é",\n      "year": 2024,\n'
        '      "parameters_b": 7.0\n    }\n  }\n}\n'
    )


def test_no_file_and_a_folder_in_its_place(tmp_path):
    with pytest.raises(InputError, match=r"models.json: there is no such file; run snakemake again"):
        read_models(tmp_path / "models.json")
    with pytest.raises(InputError, match="cannot be read"):
        read_models(tmp_path)


def models(**keys: object) -> str:
    return json.dumps({"benchmark": "b", "models": {"m": {"label": "M", **keys}}})


OTHERS = ["[]", "3", '{"benchmark": "b"}', '{"models": {}}', '{"benchmark": 1, "models": {}}']
OTHERS += ['{"benchmark": "b", "models": []}', '{"benchmark": "b", "models": {}, "more": 1}']
OTHERS += [f'{{"benchmark": "b", "models": {{"m": {model}}}}}' for model in ("null", '{"year": 1}')]
OTHERS += [models(label=3), models(year="2024"), models(parameters_b=True), models(size=7)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, "is not JSON") for text in ("{", "\x00", models_text(FOUND)[:-9])),
        *((text, "must contain benchmark and models") for text in OTHERS),
    ],
)
def test_a_file_of_another_form(tmp_path, text, message):
    path = tmp_path / "models.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_models(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("benchmark", ["mllm-ic", "r-bench", "vqa-robustness"])
def test_models_whose_results_are_imported_are_described(benchmark: str) -> None:
    raw = yaml.safe_load(Path(f"config/demo-{benchmark}.yaml").read_text())
    raw["answers_from"] = {"mine": {"label": "000100", "file": "README.md"}}
    run = Run(load(raw, Path.cwd(), file="c.yaml"))
    measured = run.benchmark.measured
    *own, mine = run.models.described(measured, run.benchmark.imported_labels)
    assert [each["id"] for each in own] == [*measured] and mine == {"id": "mine", "label": "000100"}
