"""The configurations in config/ are valid, complete, and described by the generated files."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
import yaml

from benchc.config.catalogue import ModelCatalogue, SourceCatalogue
from benchc.config.load import load
from benchc.config.reference import reference_page, schema_text, schemas
from tests.shared_data import write_empty_sources

ROOT = Path(__file__).resolve().parents[2]
FIX = "run `python -m scripts.stage write_config_reference` and commit what it writes"
# By name, since users put configurations and catalogues of their own into the folder.
SHIPPED = {
    "runs": (
        *("config.yaml", "demo.yaml", "real-items.yaml"),
        *("vqa-robustness.yaml", "demo-vqa-robustness.yaml"),
        *("r-bench.yaml", "demo-r-bench.yaml", "real-pairs.yaml"),
        *("mllm-ic.yaml", "mllm-ic-mini.yaml", "demo-mllm-ic.yaml"),
        *("naturalbench.yaml", "naturalbench-curate.yaml", "demo-naturalbench.yaml", "real-groups.yaml"),
        *(f"naturalbench-curate-{name}.yaml" for name in ("docci", "xm3600-zh", "xm3600-hi")),
    ),
    "sources": ("sources.yaml", "demo-sources.yaml", "real-sources.yaml"),
    "models": ("models.yaml", "demo-models.yaml"),
}
RUNS = [ROOT / "config" / name for name in SHIPPED["runs"]]
CONFIGS = [ROOT / "config" / name for names in SHIPPED.values() for name in names]


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name)
def test_every_run_begins_with_its_benchmark_and_can_be_loaded(path: Path, tmp_path: Path) -> None:
    raw = yaml.safe_load(path.read_text())
    assert next(iter(raw)) == "benchmark"
    environment = {"BENCHC_SHARED": write_empty_sources(tmp_path)}
    load(raw, ROOT, file=f"config/{path.name}", environment=environment)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_every_file_names_its_schema_and_every_catalogue_is_valid(path: Path) -> None:
    first = path.read_text().splitlines()[0]
    schema = re.fullmatch(r"# yaml-language-server: \$schema=(schema/([\w-]+)\.json)", first)
    assert schema and (path.parent / schema[1]).exists()
    content = yaml.safe_load(path.read_text())
    # As an editor would.
    jsonschema.validate(content, json.loads((path.parent / schema[1]).read_text()))
    if schema[2] == "sources":
        SourceCatalogue.model_validate(content)
    if schema[2] == "models":
        ModelCatalogue.model_validate(content)


@pytest.mark.parametrize("name", schemas())
def test_the_schemas_are_up_to_date(name: str) -> None:
    path = ROOT / "config" / "schema" / f"{name}.json"
    assert path.read_text() == schema_text(name), f"{path} is out of date: {FIX}"


def test_every_schema_has_a_model() -> None:
    assert {path.stem for path in (ROOT / "config/schema").glob("*.json")} == set(schemas())


@pytest.mark.parametrize("name", schemas())
def test_every_count_has_a_largest_value(name: str) -> None:
    """Else one digit too many takes all memory, or days, before anything is said."""

    def unlimited(node: object, path: str) -> Iterator[str]:
        if isinstance(node, dict):
            if node.get("type") == "integer" and not node.keys() & {"maximum", "const", "enum"}:
                yield path
            for key, value in node.items():
                yield from unlimited(value, f"{path}/{key}")
        if isinstance(node, list):
            for value in node:
                yield from unlimited(value, path)

    no_counts = ("/seed", "Model/properties/year/anyOf", "/processor/additionalProperties/anyOf")
    assert [
        path for path in unlimited(json.loads(schema_text(name)), "") if not path.endswith(no_counts)
    ] == []


def test_the_reference_page_is_up_to_date() -> None:
    path = ROOT / "docs" / "configuration.md"
    assert path.read_text() == reference_page(), f"{path} is out of date: {FIX}"


def test_every_key_is_described() -> None:
    def undescribed(node, where=""):
        for key, child in node.get("properties", {}).items():
            if "description" not in child and "$ref" not in child:
                yield f"{where}.{key}"

    for name in schemas():
        schema = json.loads(schema_text(name))
        blocks = [schema, *schema.get("$defs", {}).values()]
        assert [key for block in blocks for key in undescribed(block, name)] == []
        assert all(block.get("additionalProperties") is False for block in blocks if "properties" in block)


def test_loading_the_configuration_imports_nothing_slow() -> None:
    code = (
        "import sys, benchc.config.corruption_batches\n"
        "from benchc.config.reference import schemas\nschemas()\n"
        "print(*(name for name in sys.modules if '.' not in name))"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    imported = set(result.stdout.decode().split())
    assert "pydantic" in imported
    assert imported.isdisjoint({"torch", "numpy", "polars", "imgaug", "PIL"})
