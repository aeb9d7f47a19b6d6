"""The classes that are tested: for each model type, a small random model and its processor."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchc.models.letter import LetterScorer
from benchc.models.predict import batch_difference, load_model
from benchc.models.protocol import CheckpointSource
from benchc.models.text import TextScorer
from tests.models.classes import others, plain, qwen, templateless, towers
from tests.models.classes.common import QUESTIONS, variants
from tests.models.classes.plain import Plain
from tests.models.classes.templateless import BACKENDS, TEMPLATES

# Functions of these names, and those whose model type has another.
NAMES = {
    qwen: "glm46v glm4v glm4v_moe qwen2_5_vl qwen2_vl qwen3_5 qwen3_5_moe qwen3_vl qwen3_vl_moe",
    templateless: "chameleon fuyu instructblip",
    others: "emu3 ernie4_5_vl_moe gemma3 gemma3n gemma4 hunyuan_vl lfm3_vl minicpmv4_6 mllama molmo2 "
    "paddleocr_vl paligemma phi4_multimodal",
    towers: "aria aya_vision cohere2_vision deepseek_vl deepseek_vl_hybrid fast_vlm granite4_vision idefics2 "
    "idefics3 internvl janus lfm2_vl llama4 llava llava_next llava_next_video llava_onevision mistral3 ovis2 "
    "perception_lm smolvlm video_llama_3 video_llava vipllava",
}
OTHERS = {
    "blip-2": templateless.blip_2,
    "internvl (Llama)": towers.internvl_llama,
    "kosmos-2": templateless.kosmos_2,
    "llava (Pixtral)": towers.pixtral,
    "llava_next (Falcon2-VLM)": towers.falcon2_vlm,
    "qwen2_5_omni": qwen.qwen2_5_omni_thinker,
    "qwen3_omni_moe": qwen.qwen3_omni_moe_thinker,
}
NAMED = {name: getattr(module, name) for module, names in NAMES.items() for name in names.split()}
BUILDERS: dict[str, Callable[[], tuple[Any, Any]]] = dict(sorted((NAMED | OTHERS).items()))
# The families of those whose class leaves something out: a chat template, or an adapter.
FAMILIES = {name: name.split()[0] for name in ("llava_next (Falcon2-VLM)", "paligemma", "phi4_multimodal")}


@dataclass(frozen=True)
class Loaded:
    """A model that was loaded from a saved checkpoint, with two scorings, and by transformers alone."""

    letter: LetterScorer
    text: TextScorer
    plain: Plain

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
    if "omni" in model_type:
        qwen.save_as_omni(folder, model_type)
    if model_type == "llava_next (Falcon2-VLM)":
        # It has the files of an older transformers, without the settings of the processor.
        (folder / "processor_config.json").unlink()
        processor.image_processor.save_pretrained(folder)


def load(model_type: str, folder: Path) -> Loaded:
    """Load a saved checkpoint, without naming its family unless it needs one, and ask it as a job does."""
    family = FAMILIES.get(model_type)
    source = CheckpointSource(
        str(folder),
        family=family,
        chat_template=TEMPLATES.get(model_type),
        image_backend=BACKENDS.get(model_type, "pil"),
    )
    letter = load_model(source, family, "letter")
    assert isinstance(letter, LetterScorer)
    letter.one_by_one = batch_difference(letter, QUESTIONS[0], variants()) > 0
    text = TextScorer(letter.chat, one_by_one=letter.one_by_one)
    return Loaded(letter, text, plain.load(folder, model_type))
