"""The classes that are tested: for each model type, a small random model and its processor."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchc.models.letter import LetterScorer
from benchc.models.predict import load_model
from benchc.models.protocol import CheckpointSource
from benchc.models.text import TextScorer
from tests.models.classes import gemma, others, qwen, tiles

BUILDERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "deepseek_vl": tiles.deepseek_vl,
    "emu3": others.emu3,
    "gemma3": gemma.gemma3,
    "gemma4": gemma.gemma4,
    "glm46v": qwen.glm46v,
    "glm4v": qwen.glm4v,
    "idefics3": tiles.idefics3,
    "internvl": tiles.internvl,
    "llava": tiles.llava,
    "llava_next": tiles.llava_next,
    "llava_next (Falcon2-VLM)": tiles.falcon2_vlm,
    "llava_onevision": tiles.llava_onevision,
    "minicpmv4_6": others.minicpmv4_6,
    "mistral3": tiles.mistral3,
    "mllama": others.mllama,
    "molmo2": others.molmo2,
    "ovis2": tiles.ovis2,
    "paligemma": gemma.paligemma,
    "phi4_multimodal": others.phi4_multimodal,
    "qwen2_5_vl": qwen.qwen2_5_vl,
    "qwen2_vl": qwen.qwen2_vl,
    "qwen3_5": qwen.qwen3_5,
    "qwen3_vl": qwen.qwen3_vl,
    "smolvlm": tiles.smolvlm,
}
# The families of those whose class leaves something out: a chat template, or an adapter.
FAMILIES = {
    "llava_next (Falcon2-VLM)": "llava_next",
    "paligemma": "paligemma",
    "phi4_multimodal": "phi4_multimodal",
}


@dataclass(frozen=True)
class Loaded:
    """A model that was loaded from a saved checkpoint, with two scorings."""

    letter: LetterScorer
    text: TextScorer

    @property
    def class_name(self) -> str:
        return type(self.letter.chat.model).__name__


def save(model_type: str, folder: Path) -> None:
    """Save a small random model with its processor."""
    torch.manual_seed(7)
    model, processor = BUILDERS[model_type]()
    # The initial weights give nearly uniform answers; larger ones show every mistake.
    with torch.no_grad():
        for parameter in model.parameters():
            if not parameter.any():
                parameter.normal_(std=0.3)
            else:
                parameter.mul_(3.0)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    if model_type == "phi4_multimodal":
        others.save_vision_adapter(model, folder / "vision-lora")
    if model_type == "llava_next (Falcon2-VLM)":
        # It has the files of an older transformers, without the settings of the processor.
        (folder / "processor_config.json").unlink()
        processor.image_processor.save_pretrained(folder)


def load(model_type: str, folder: Path) -> Loaded:
    """Load a saved checkpoint, without naming its family unless it needs one."""
    family = FAMILIES.get(model_type)
    letter = load_model(CheckpointSource(str(folder), family=family), family, "letter")
    assert isinstance(letter, LetterScorer)
    return Loaded(letter, TextScorer(letter.chat))
