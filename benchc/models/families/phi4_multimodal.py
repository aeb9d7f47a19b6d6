"""Phi-4-multimodal, which reads images only with the adapter in its folder ``vision-lora``.

transformers loads the language model without it (the example in its documentation,
docs/source/en/model_doc/phi4_multimodal.md, calls ``load_adapter`` and ``set_adapter``). Here the adapter is
applied as peft's ``lora.Linear`` does at inference, but without peft, which every job would import.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file

from benchc.json_content import json_content
from benchc.models import checkpoint
from benchc.models.chat import ChatModel
from benchc.models.pinned import pinned_commit
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.snapshot import checkpoint_folder

ADAPTER = "vision-lora"
KEY = re.compile(r"base_model\.model\.(.+)\.lora_([AB])\.weight")
# Settings of peft that change what an adapter computes, with the values that mean plain LoRA.
PLAIN: dict[str, tuple[object, ...]] = {
    "peft_type": ("LORA",),
    "use_dora": (False, None),
    "use_rslora": (False, None),
    "rank_pattern": ({}, None),
    "alpha_pattern": ({}, None),
    "modules_to_save": ([], None),
    "bias": ("none", None),
    "fan_in_fan_out": (False, None),
}


def load(source: CheckpointSource) -> ChatModel:
    """Load a checkpoint of the family; raises ModelError where its adapter is absent or cannot be applied."""
    chat = checkpoint.load(source)
    commit = pinned_commit(source)
    folder = checkpoint_folder(source.location, commit)
    add_adapter(chat.model, folder / ADAPTER, chat.name)
    return chat


def add_adapter(model: torch.nn.Module, folder: Path, name: str) -> None:
    """Add ``lora_alpha / r * B A x`` to the output of each layer that the adapter in ``folder`` names."""
    try:
        config = json_content((folder / "adapter_config.json").read_bytes())
        weights = load_file(folder / "adapter_model.safetensors")
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{name}: its adapter for images, adapter_config.json and adapter_model.safetensors in "
            f"{folder.name}, cannot be read ({' '.join(str(error).split())}); fetch the model again"
        ) from error
    other = [key for key, values in PLAIN.items() if config.get(key) not in values]
    pairs = _pairs(weights)
    layers = dict(model.named_modules())
    wrong = [key for key, pair in pairs.items() if set(pair) != {"A", "B"} or key not in layers]
    if other or wrong or not pairs:
        what = f"its setting {other[0]}" if other else f"the layer {wrong[0]}" if wrong else "no layer"
        raise ModelError(
            f"{name}: its adapter {folder.name} has {what}, which this version cannot apply; use another "
            "revision of the model, or a server"
        )
    scale = config["lora_alpha"] / config["r"]
    for key, pair in pairs.items():
        layer = layers[key]
        to = next(layer.parameters())
        first, second = (pair[half].to(device=to.device, dtype=to.dtype) for half in "AB")
        layer.register_forward_hook(
            lambda _, arguments, output, first=first, second=second: (
                output + (arguments[0] @ first.T @ second.T) * scale
            )
        )


def _pairs(weights: Mapping[str, torch.Tensor]) -> dict[str, dict[str, torch.Tensor]]:
    """Return the matrices A and B of each layer by its name; a weight of another name stands alone."""
    pairs: dict[str, dict[str, torch.Tensor]] = {}
    for key, weight in weights.items():
        match = KEY.fullmatch(key)
        layer, half = match.groups() if match else (key, "")
        pairs.setdefault(layer, {})[half] = weight
    return pairs
