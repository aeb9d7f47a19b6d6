"""Which files of a model's folder decide its predictions."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchc.models.folder import deciding_files, folder_digest
from benchc.models.load import load_scorer
from benchc.models.protocol import CheckpointSource
from tests.models.conftest import FAMILIES

ROOT = Path(__file__).resolve().parents[2]
IGNORED = (
    "README.md",
    "LICENSE.txt",
    ".gitattributes",
    ".cache/huggingface/config.json",
    ".hidden/config.json",
    "plot.png",
    "modeling.py",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
    "model-00001-of-00002.safetensors",
    "consolidated.safetensors",
    "model.gguf",
    "onnx/model.onnx",
    "examples/config.json",
)
DECIDING = (
    "vocab.json",
    "merges.txt",
    "tokenizer.model",
    "source.spm",
    "adapter_model.safetensors",
    "chat_template.json",
    "preprocessor_config.json",
    "additional_chat_templates/tools.jinja",
)


def write(folder: Path, name: str, content: str = "x") -> None:
    """Write a file, and the folders that it is in."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content)


@pytest.fixture
def folder(checkpoints: dict[str, Path], tmp_path: Path) -> Path:
    copy = tmp_path / "model"
    shutil.copytree(checkpoints["llava"], copy)
    return copy


@pytest.mark.parametrize("family", FAMILIES)
def test_all_files_of_a_saved_model_decide(checkpoints: dict[str, Path], family: str) -> None:
    assert deciding_files(checkpoints[family]) == sorted(checkpoints[family].iterdir())


@pytest.mark.parametrize("name", IGNORED)
def test_a_file_that_is_not_loaded_changes_nothing(folder: Path, name: str) -> None:
    before = folder_digest(folder)
    write(folder, name)
    assert folder_digest(folder) == before


@pytest.mark.parametrize("name", DECIDING)
def test_a_new_file_that_is_loaded_is_another_model(folder: Path, name: str) -> None:
    before = folder_digest(folder)
    write(folder, name)
    assert folder_digest(folder) != before


def test_every_byte_and_name_of_a_deciding_file_counts(folder: Path) -> None:
    digests = {folder_digest(folder)}
    paths = deciding_files(folder)
    for path in paths:
        content = path.read_bytes()
        path.write_bytes(content + b" ")
        digests.add(folder_digest(folder))
        path.write_bytes(content)
    (folder / "chat_template.jinja").rename(folder / "another.jinja")
    digests.add(folder_digest(folder))
    assert len(digests) == len(paths) + 2


def test_code_decides_only_where_it_is_run(folder: Path) -> None:
    plain, with_code = folder_digest(folder), folder_digest(folder, remote_code=True)
    assert plain == with_code
    write(folder, "modeling.py")
    write(folder, "layers/attention.py")
    assert folder_digest(folder) == plain
    names = {path.name for path in deciding_files(folder, remote_code=True)}
    assert {"modeling.py", "attention.py"} <= names


@pytest.mark.parametrize("name", ["modeling.py", "layers/attention.py", "consolidated.safetensors", "a.gguf"])
def test_a_server_may_load_code_and_other_weights(folder: Path, name: str) -> None:
    plain, on_server = folder_digest(folder), folder_digest(folder, on_server=True)
    assert plain == on_server
    write(folder, name)
    assert folder_digest(folder) == plain != folder_digest(folder, on_server=True)


def test_all_shards_of_the_loaded_format_count(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    index = {
        "weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-2.safetensors"}
    }
    write(folder, "model.safetensors.index.json", json.dumps(index))
    for name in ("model-1.safetensors", "model-2.safetensors", "model-3.safetensors", "pytorch_model.bin"):
        write(folder, name)
    names = {path.name for path in deciding_files(folder)}
    weights = {name for name in names if name.startswith("model")}
    assert weights == {"model.safetensors.index.json", "model-1.safetensors", "model-2.safetensors"}
    assert "pytorch_model.bin" not in names


def test_older_and_named_weights_count(folder: Path) -> None:
    write(folder, "pytorch_model.bin")
    (folder / "model.safetensors").rename(folder / "own.safetensors")
    assert "pytorch_model.bin" in {path.name for path in deciding_files(folder)}
    write(folder, "config.json", json.dumps({"transformers_weights": "own.safetensors"}))
    names = {path.name for path in deciding_files(folder)}
    assert "own.safetensors" in names
    assert "pytorch_model.bin" not in names


@pytest.mark.parametrize("content", ["{", "[1]", '{"weight_map": [1]}'])
def test_a_damaged_index_is_left_to_the_loading(folder: Path, content: str) -> None:
    (folder / "model.safetensors").unlink()
    write(folder, "model.safetensors.index.json", content)
    assert folder / "model.safetensors.index.json" in deciding_files(folder)


def test_the_identity_does_not_depend_on_how_the_path_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = load_scorer("llava", "letter", CheckpointSource(str(folder))).identity()
    write(folder, "README.md")
    monkeypatch.chdir(folder)
    for path in (".", "../model", f"{folder}/", os.path.relpath(folder)):
        assert load_scorer("llava", "letter", CheckpointSource(path)).identity() == expected


def test_rules_that_import_the_module_need_no_torch() -> None:
    code = "import sys, benchc.models.folder, benchc.schemas.revision; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, text=True, capture_output=True, check=True)
    assert {"torch", "transformers", "numpy", "huggingface_hub"}.isdisjoint(done.stdout.split())
