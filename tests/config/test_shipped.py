"""The configurations in config/ are valid, complete, and described by the generated files."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from benchc.config.batches import batches
from benchc.config.catalogue import ModelCatalogue, SourceCatalogue
from benchc.config.load import Config, load
from benchc.config.reference import SCHEMAS, reference_page, schema_text
from benchc.corruptions.registry import corruptions_of

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("BENCHC_SHARED", ROOT / ".." / "shared"))
MEND = "run `python -m scripts.write_config_reference` and commit what it writes"
NEEDS_SHARED = pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of BENCHC_SHARED is absent")


def load_shipped(name: str) -> Config:
    raw = yaml.safe_load((ROOT / "config" / name).read_text())
    return load(raw, ROOT, file=f"config/{name}")


def test_the_papers_run() -> None:
    config = load_shipped("config.yaml")
    assert (len(config.sources), len(config.settings.selectors), len(config.settings.targets)) == (6, 3, 13)
    assert sorted(config.settings.corruptions.types) == sorted(corruptions_of("imagenet-c"))
    assert len(config.settings.corruptions.types) == 19
    assert config.settings.corruptions.severities == [1, 2, 3, 4, 5]
    assert list(batches(config.settings)) == ["photometric", "blur", "noise", "weather", "digital"]
    assert config.settings.pool.total == 4000
    assert all(source.md5 for source in config.sources.values())


@NEEDS_SHARED
def test_the_targets_are_those_of_the_papers_table_1() -> None:
    with (SHARED / "reference" / "bench_c_table1.csv").open() as file:
        published = {row["model"]: (int(row["year"]), float(row["params_b"])) for row in csv.DictReader(file)}
    config = load_shipped("config.yaml")
    targets = [config.models[id_] for id_ in config.settings.targets]
    assert {target.label: (target.year, target.parameters_b) for target in targets} == published


def test_the_demo() -> None:
    config = load_shipped("demo.yaml")
    assert len(config.sources) == 6
    assert (len(config.settings.selectors), len(config.settings.targets)) == (3, 4)
    assert all(source.drawn for source in config.sources.values())
    assert {model.scoring for model in config.models.values()} == {"letter", "text"}


@NEEDS_SHARED
def test_the_run_on_real_items() -> None:
    config = load_shipped("real-items.yaml")
    assert len(config.sources) == 14
    assert config.settings.pool.per_task is None and config.settings.pool.total is None


@pytest.mark.parametrize("path", sorted((ROOT / "config").glob("*.yaml")), ids=lambda path: path.name)
def test_every_file_names_its_schema_and_every_catalogue_is_valid(path: Path) -> None:
    first = path.read_text().splitlines()[0]
    schema = re.fullmatch(r"# yaml-language-server: \$schema=(schema/(\w+)\.json)", first)
    assert schema and (path.parent / schema[1]).exists()
    content = yaml.safe_load(path.read_text())
    # What an editor would say about the file.
    jsonschema.validate(content, json.loads((path.parent / schema[1]).read_text()))
    if schema[2] == "sources":
        SourceCatalogue.model_validate(content)
    if schema[2] == "models":
        ModelCatalogue.model_validate(content)


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schemas_are_in_step(name: str) -> None:
    path = ROOT / "config" / "schema" / f"{name}.json"
    assert path.read_text() == schema_text(name), f"{path} is out of step: {MEND}"


def test_the_reference_page_is_in_step() -> None:
    path = ROOT / "docs" / "configuration.md"
    assert path.read_text() == reference_page(), f"{path} is out of step: {MEND}"


def test_every_key_is_described() -> None:
    def undescribed(node, where=""):
        for key, child in node.get("properties", {}).items():
            if "description" not in child and "$ref" not in child:
                yield f"{where}.{key}"

    for name in SCHEMAS:
        schema = json.loads(schema_text(name))
        blocks = [schema, *schema.get("$defs", {}).values()]
        assert [key for block in blocks for key in undescribed(block, name)] == []
        assert all(block.get("additionalProperties") is False for block in blocks if "properties" in block)


def test_reading_the_configuration_imports_nothing_slow() -> None:
    code = (
        "import sys, benchc.config.load, benchc.config.batches\n"
        "print(*(name for name in sys.modules if '.' not in name))"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    imported = set(result.stdout.decode().split())
    assert "pydantic" in imported
    assert imported.isdisjoint({"torch", "numpy", "polars", "imgaug", "PIL"})
