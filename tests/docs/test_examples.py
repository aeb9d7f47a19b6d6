from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
import yaml
from pydantic import ValidationError

from benchc.config.benchmarks import known_benchmarks, module_of
from benchc.config.catalogue import ModelCatalogue, SourceCatalogue
from benchc.config.evaluation import OWN_KEYS
from benchc.sources.vlmevalkit import ReaderOptions, read_vlmevalkit
from tests.docs.blocks import ROOT, blocks_of, example
from tests.sources.tsv_files import BLUE, RED


def is_valid(model: type, content: object) -> bool:
    try:
        model.model_validate(content)  # type: ignore[attr-defined]
    except ValidationError:
        return False
    return True


def demo_of(benchmark: str) -> dict[str, object]:
    name = "demo" if benchmark == "bench-c" else f"demo-{benchmark}"
    content: dict[str, object] = yaml.safe_load((ROOT / f"config/{name}.yaml").read_text())
    return content


@pytest.mark.parametrize("block", blocks_of("yaml"), ids=lambda block: block.place)
def test_yaml_is_accepted(block):
    content = yaml.safe_load(block.text)
    if "evaluate" in content:
        # Of which only the finished run's settings make a configuration.
        assert set(content) == set(OWN_KEYS)
        assert set(content["evaluate"]) == {"benchmark", "models"}
    elif "benchmark" in content:
        module_of(content["benchmark"], "settings").Settings.model_validate(content)
    elif all("label" in entry for entry in content.values()):
        assert is_valid(ModelCatalogue, content) or is_valid(SourceCatalogue, content)
    else:
        # A part of a configuration of some benchmark.
        whole = {name: demo_of(name) | content for name in known_benchmarks()}
        assert any(is_valid(module_of(name, "settings").Settings, each) for name, each in whole.items())


def test_the_entries_of_own_data_models_and_families_are_read_as_the_pages_say():
    model = yaml.safe_load(example("docs/own-model.md", "yaml", "my-model:"))
    source = yaml.safe_load(example("docs/own-data.md", "yaml", "my-source:"))
    assert ModelCatalogue.model_validate(model).root["my-model"].family is None
    assert SourceCatalogue.model_validate(source).root["my-source"].task_column == "category"
    module = ModuleType("my_family")
    exec(example("docs/models.md", "python", "My family"), vars(module))
    assert callable(module.load)


def test_the_script_writes_a_tsv_file_of_which_every_row_is_an_item(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, data in (("sales", RED), ("before", RED), ("after", BLUE)):
        Path(f"{name}.png").write_bytes(data)
    exec(example("docs/own-data.md", "python", "my.tsv"), {})
    items, report = read_vlmevalkit("my.tsv", "my", ReaderOptions(task_column="category"))
    assert report.is_empty()
    found = {row["id"]: row for row in items.to_dicts()}
    assert [len(row["images"]) for row in found.values()] == [1, 1, 2]
    assert found["my/2"]["images"][0]["bytes"] == RED
    assert (found["my/2"]["hint"], found["my/2"]["answer"]) == ("Bars are sales.", 0)
    assert (found["my/3"]["options"], found["my/1"]["hint"]) == (["yes", "no"], None)
    assert found["my/3"]["category"] == "comparison"


def test_images_of_a_run_are_written_for_other_programs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = Path("results/<name>")
    (run / "pool").mkdir(parents=True)
    (run / "corrupted").mkdir()
    items = {"id": ["a/1", "a/2"], "question": ["One?", "Two?"], "image_keys": [["a/1#0"], ["a/1#0"]]}
    pl.DataFrame(items).write_parquet(run / "pool/items.parquet")
    rows = {"image_key": ["a/1#0"], "severity": [2], "image": [{"bytes": BLUE}]}
    pl.DataFrame(rows).write_parquet(run / "corrupted/snow.parquet")
    names: dict[str, object] = {}
    exec(example("docs/vqa-robustness.md", "python", "corrupted"), names)
    assert Path("snow-2-a_1#0.webp").read_bytes() == BLUE
    assert list(names["ids"]) == ["a/1", "a/2"]  # type: ignore[call-overload]
