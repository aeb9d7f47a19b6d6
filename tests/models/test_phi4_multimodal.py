"""The adapter for images of Phi-4-multimodal is applied as merged weights are, or refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from benchc.models.checkpoint import load as load_any
from benchc.models.families import phi4_multimodal
from benchc.models.folder import folder_digest
from benchc.models.letter import LetterScorer
from benchc.models.protocol import CheckpointSource, ModelError
from tests.models.classes.builders import save
from tests.models.conftest import QUESTIONS

FAMILY = "phi4_multimodal"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("phi4")
    save(FAMILY, folder)
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    return shutil.copytree(saved, tmp_path / "phi4")


def source(folder: Path) -> CheckpointSource:
    return CheckpointSource(str(folder), family=FAMILY)


def test_the_adapter_is_applied_as_merged_weights_are(folder, variants):
    adapted = LetterScorer(phi4_multimodal.load(source(folder)))
    plain = LetterScorer(load_any(source(folder)))
    weights = load_file(folder / "vision-lora/adapter_model.safetensors")
    layers = dict(plain.chat.model.named_modules())
    found = adapted.score(QUESTIONS[0], variants).logits
    assert np.abs(found - plain.score(QUESTIONS[0], variants).logits).max() > 0.1
    with torch.no_grad():
        for name in ("self_attn.qkv_proj", "mlp.down_proj"):
            key = f"base_model.model.model.layers.0.{name}"
            product = weights[f"{key}.lora_B.weight"] @ weights[f"{key}.lora_A.weight"]
            layers[f"model.layers.0.{name}"].weight += 8 / 4 * product
    np.testing.assert_allclose(found, plain.score(QUESTIONS[0], variants).logits, rtol=1e-4, atol=1e-3)


def test_the_adapter_is_part_of_the_model_and_the_class_alone_is_refused(folder):
    before = folder_digest(folder)
    path = folder / "vision-lora/adapter_model.safetensors"
    save_file({name: 2 * weight for name, weight in load_file(path).items()}, path)
    assert folder_digest(folder) != before
    with pytest.raises(ModelError, match=r"is a phi4_multimodal, .*set `family: phi4_multimodal`"):
        load_any(CheckpointSource(str(folder)))


def rewrite(folder: Path, **settings: object) -> None:
    path = folder / "vision-lora/adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def rename(folder: Path, old: str, new: str) -> None:
    path = folder / "vision-lora/adapter_model.safetensors"
    save_file({name.replace(old, new): weight for name, weight in load_file(path).items()}, path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: shutil.rmtree(folder / "vision-lora"), "its adapter for images, .* cannot be read"),
        (lambda folder: rewrite(folder, use_dora=True), "has its setting use_dora, which this version"),
        (lambda folder: rewrite(folder, rank_pattern={"x": 2}), "has its setting rank_pattern"),
        (lambda folder: rename(folder, "layers.0", "layers.7"), "has the layer model.layers.7"),
        (lambda folder: rename(folder, "lora_B", "lora_C"), "has the layer"),
    ],
)
def test_another_adapter_is_refused(folder: Path, damage: Callable[[Path], None], message: str) -> None:
    damage(folder)
    with pytest.raises(ModelError, match=message):
        phi4_multimodal.load(source(folder))
