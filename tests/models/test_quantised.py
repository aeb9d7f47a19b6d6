"""Quantised checkpoints: one that transformers loads without a package, and what the others need."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from benchc.models import quantised
from benchc.models.load import load_scorer
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.quantised import check_head
from tests.models.conftest import QUESTIONS

BLOCK = 16
HIGHEST = 448  # of float8 e4m3
FP8 = {
    "quant_method": "fp8",
    "weight_block_size": [BLOCK, BLOCK],
    "modules_to_not_convert": ["lm_head", "vision_tower", "multi_modal_projector"],
}


@pytest.fixture
def folder(checkpoints: dict[str, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(checkpoints["llava"], tmp_path / "model"))


def configure(folder: Path, **quantisation: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"quantization_config": quantisation}))


def loaded(folder: Path, **options: Any) -> Any:
    return load_scorer(None, "letter", CheckpointSource(str(folder), **options))


def message(folder: Path, **options: Any) -> str:
    with pytest.raises(ModelError) as error:
        loaded(folder, **options)
    text = str(error.value)
    assert text.startswith(f"{folder}: ") and "\n" not in text
    return text.removeprefix(f"{folder}: ")


@pytest.mark.skipif(torch.cuda.is_available(), reason="on a GPU, transformers keeps the weights in 8 bits")
def test_a_checkpoint_that_needs_no_package_is_loaded_by_its_own_settings(
    folder: Path, tmp_path: Path, variants: Any
) -> None:
    plain = loaded(folder).score(QUESTIONS[0], variants).logits
    by_hand = shutil.copytree(folder, tmp_path / "by-hand")
    weights = load_file(folder / "model.safetensors")
    stored = dict(weights)
    for name, weight in weights.items():
        if name.startswith("language_model") and name.endswith("_proj.weight"):
            rows, columns = weight.shape
            blocks = weight.reshape(rows // BLOCK, BLOCK, columns // BLOCK, BLOCK)
            scale = blocks.abs().amax((1, 3)) / HIGHEST
            eighth = (blocks / scale[:, None, :, None]).to(torch.float8_e4m3fn)
            stored[name] = eighth.reshape(rows, columns)
            stored[f"{name}_scale_inv"] = scale
            weights[name] = (eighth.float() * scale[:, None, :, None]).reshape(rows, columns)
    save_file(stored, folder / "model.safetensors", {"format": "pt"})
    save_file(weights, by_hand / "model.safetensors", {"format": "pt"})
    configure(folder, **FP8)
    scorer = loaded(folder)
    found = scorer.score(QUESTIONS[0], variants).logits
    np.testing.assert_array_equal(found, loaded(by_hand).score(QUESTIONS[0], variants).logits)
    assert np.abs(found - plain).max() > 0
    assert scorer.identity()["quantised"] == "fp8" and "quantised" not in loaded(by_hand).identity()


@pytest.mark.parametrize(
    ("quantisation", "method", "packages"),
    [
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "bitsandbytes", "bitsandbytes"),
        ({"load_in_8bit": True}, "bitsandbytes", "bitsandbytes"),
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, "awq", "gptqmodel"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128}, "gptq", "gptqmodel optimum"),
        ({"quant_method": "compressed-tensors", "config_groups": {}}, *["compressed-tensors"] * 2),
    ],
)
def test_what_a_method_needs_is_said(folder: Path, monkeypatch, quantisation, method, packages) -> None:
    monkeypatch.setattr(
        quantised, "package_versions", lambda names: {"accelerate": "1"} if names == ("accelerate",) else {}
    )
    configure(folder, **quantisation)
    assert message(folder) == (
        f"is quantised ({method}), for which transformers needs the package "
        f"{packages.replace(' ', ' and ')}; run: pip install {packages}, or name an environment that has it "
        "(`env` in the model catalogue)"
    )


def test_versions_of_a_methods_packages_are_part_of_the_identity() -> None:
    facts = quantised.quantisation_facts({"quantization_config": {"quant_method": "quanto"}})
    assert facts["quantised"] == "quanto" and facts.keys() <= {"quantised", "accelerate", "optimum-quanto"}
    assert "accelerate" in facts
    assert quantised.quantisation_facts({"quantization_config": {}}) == {}


def test_a_method_that_transformers_does_not_know_is_refused(folder: Path) -> None:
    configure(folder, quant_method="own")
    assert message(folder).startswith("is quantised by 'own' (quantization_config in config.json), which is ")


def test_a_quantised_model_takes_no_adapter(folder: Path, tmp_path: Path) -> None:
    configure(folder, **FP8)
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    save_file({"a": torch.zeros(1)}, adapter / "adapter_model.safetensors")
    assert "is quantised (fp8), so that no adapter can be merged" in message(folder, adapter=str(adapter))


@pytest.mark.parametrize(
    ("head", "refused"),
    [
        (torch.nn.Linear(2, 2, dtype=torch.bfloat16), False),
        (None, False),
        (SimpleNamespace(weight=torch.zeros(2, dtype=torch.uint8)), True),
        (SimpleNamespace(weight=torch.zeros(2, dtype=torch.float8_e4m3fn)), True),
        (SimpleNamespace(qweight=torch.zeros(2)), True),
    ],
)
def test_a_quantised_head_is_refused(head: Any, refused: bool) -> None:
    model = SimpleNamespace(get_output_embeddings=lambda: head)
    if not refused:
        check_head(model, CheckpointSource("m"))
        return
    with pytest.raises(ModelError, match="m: its language head is quantised, too"):
        check_head(model, CheckpointSource("m"))
