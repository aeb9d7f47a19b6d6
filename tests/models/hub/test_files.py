"""Of a repository's files, those that its loader reads are fetched, and no others."""

import json
from pathlib import Path

import pytest

from benchc.models.folder import deciding_files
from benchc.models.hub.files import settings_files, weight_files

SETTINGS = ["chat_template.jinja", "config.json", "merges.txt", "tokenizer.json", "tokenizer.model"]
WEIGHTS = ["model.safetensors", "pytorch_model.bin"]
OTHERS = [
    *("README.md", ".gitattributes", "picture.png", "model.gguf", "flax_model.msgpack", "tf_model.h5"),
    *("onnx/model.onnx", "onnx/config.json", "original/params.json", "original/consolidated.00.pth"),
]


def test_of_a_native_model_settings_and_one_format_of_weights_are_read(tmp_path: Path) -> None:
    names = [*SETTINGS, *WEIGHTS, *OTHERS]
    assert settings_files(names) == SETTINGS
    assert weight_files(names, tmp_path) == ["model.safetensors"]
    assert weight_files([*SETTINGS, "pytorch_model.bin"], tmp_path) == ["pytorch_model.bin"]
    assert weight_files(SETTINGS, tmp_path) == []


def test_they_are_those_that_decide_the_predictions_of_a_folder(tmp_path: Path) -> None:
    for name in [*SETTINGS, *WEIGHTS, *OTHERS, "additional_chat_templates/short.jinja"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    names = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    decide = {path.relative_to(tmp_path).as_posix() for path in deciding_files(tmp_path)}
    assert {*settings_files(names), *weight_files(names, tmp_path)} == decide


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, ["a.safetensors", "b.safetensors"]),
        ({"transformers_weights": "other.safetensors"}, ["other.safetensors"]),
    ],
)
def test_shards_and_named_weights(tmp_path: Path, config: dict[str, str], expected: list[str]) -> None:
    index = {"weight_map": {"x": "b.safetensors", "y": "a.safetensors", "z": "b.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    (tmp_path / "config.json").write_text(json.dumps(config))
    names = [*expected, "model.safetensors.index.json", "consolidated.safetensors", "pytorch_model.bin"]
    assert weight_files(names, tmp_path) == expected


def test_what_own_code_may_read_is_fetched(tmp_path: Path) -> None:
    own = ["configuration_own.py", "fonts/SimSun.ttf", "qwen.tiktoken", "vision/config.json", "vision/own.py"]
    assert settings_files([*SETTINGS, *own]) == sorted([*SETTINGS, *own])
    assert settings_files([*own, "figures/a.png", "README.md", "weights/old.pth"]) == own
    assert weight_files([*own, "part-1.safetensors", "part-2.safetensors"], tmp_path) == [
        "part-1.safetensors",
        "part-2.safetensors",
    ]


def test_adapters_in_subfolders_are_fetched(tmp_path: Path) -> None:
    adapter = ["vision-lora/adapter_config.json", "vision-lora/adapter_model.safetensors"]
    assert settings_files([*SETTINGS, *adapter, "vision-lora/README.md"]) == sorted([*SETTINGS, *adapter])


def test_an_adapter_is_no_weights_of_a_model(tmp_path: Path) -> None:
    names = ["config.json", "adapter_model.safetensors"]
    assert weight_files(names, tmp_path) == []
    assert weight_files([*names, "own_weights.safetensors"], tmp_path) == ["own_weights.safetensors"]


def test_the_parts_of_a_text_encoder_are_fetched(tmp_path: Path) -> None:
    parts = ["1_Pooling/config.json", "2_Dense/config.json", "modules.json", "vocab.txt", "config.json"]
    weights = ["2_Dense/pytorch_model.bin", "model.safetensors"]
    names = [*parts, *weights, "pytorch_model.bin", "onnx/config.json", "onnx/model.onnx", "openvino/a.bin"]
    assert settings_files(names) == sorted(parts)
    assert weight_files(names, tmp_path) == weights
