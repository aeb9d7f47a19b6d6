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
    builder.__name__: builder
    for builder in (
        tiles.deepseek_vl,
        others.emu3,
        gemma.gemma3,
        gemma.gemma4,
        qwen.glm46v,
        qwen.glm4v,
        tiles.idefics3,
        tiles.internvl,
        tiles.llava_next,
        tiles.llava_onevision,
        others.minicpmv4_6,
        tiles.mistral3,
        others.molmo2,
        tiles.ovis2,
        gemma.paligemma,
        others.phi4_multimodal,
        qwen.qwen2_5_vl,
        qwen.qwen2_vl,
        qwen.qwen3_vl,
        tiles.smolvlm,
    )
}
# Loaded by the file of their family, which their checkpoints need.
NAMED = ("paligemma",)


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
            if parameter.ndim > 1 and not parameter.any():
                parameter.normal_(std=0.06)
            else:
                parameter.mul_(3.0)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)


def load(model_type: str, folder: Path) -> Loaded:
    """Load a saved checkpoint, without naming its family unless it is in NAMED."""
    family = model_type if model_type in NAMED else None
    letter = load_model(CheckpointSource(str(folder)), family, "letter")
    assert isinstance(letter, LetterScorer)
    return Loaded(letter, TextScorer(letter.chat))
