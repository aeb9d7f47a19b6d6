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
from tests.models.classes import gemma, others, plain, qwen, templateless, tiles, towers
from tests.models.classes.common import QUESTIONS, variants
from tests.models.classes.plain import Plain
from tests.models.classes.templateless import BACKENDS, TEMPLATES

BUILDERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "aria": towers.aria,
    "aya_vision": towers.aya_vision,
    "blip-2": templateless.blip_2,
    "chameleon": templateless.chameleon,
    "cohere2_vision": towers.cohere2_vision,
    "deepseek_vl": tiles.deepseek_vl,
    "deepseek_vl_hybrid": towers.deepseek_vl_hybrid,
    "emu3": others.emu3,
    "ernie4_5_vl_moe": others.ernie4_5_vl_moe,
    "fast_vlm": towers.fast_vlm,
    "fuyu": templateless.fuyu,
    "gemma3": gemma.gemma3,
    "gemma3n": gemma.gemma3n,
    "gemma4": gemma.gemma4,
    "glm46v": qwen.glm46v,
    "glm4v": qwen.glm4v,
    "glm4v_moe": qwen.glm4v_moe,
    "granite4_vision": towers.granite4_vision,
    "hunyuan_vl": others.hunyuan_vl,
    "idefics2": towers.idefics2,
    "idefics3": tiles.idefics3,
    "instructblip": templateless.instructblip,
    "internvl": tiles.internvl,
    "internvl (Llama)": tiles.internvl_llama,
    "janus": towers.janus,
    "kosmos-2": templateless.kosmos_2,
    "lfm2_vl": towers.lfm2_vl,
    "lfm3_vl": others.lfm3_vl,
    "llama4": towers.llama4,
    "llava": tiles.llava,
    "llava (Pixtral)": tiles.pixtral,
    "llava_next": tiles.llava_next,
    "llava_next (Falcon2-VLM)": tiles.falcon2_vlm,
    "llava_next_video": towers.llava_next_video,
    "llava_onevision": tiles.llava_onevision,
    "minicpmv4_6": others.minicpmv4_6,
    "mistral3": tiles.mistral3,
    "mllama": others.mllama,
    "molmo2": others.molmo2,
    "ovis2": tiles.ovis2,
    "paddleocr_vl": others.paddleocr_vl,
    "paligemma": gemma.paligemma,
    "perception_lm": towers.perception_lm,
    "phi4_multimodal": others.phi4_multimodal,
    "qwen2_5_omni": qwen.qwen2_5_omni_thinker,
    "qwen2_5_vl": qwen.qwen2_5_vl,
    "qwen2_vl": qwen.qwen2_vl,
    "qwen3_5": qwen.qwen3_5,
    "qwen3_5_moe": qwen.qwen3_5_moe,
    "qwen3_omni_moe": qwen.qwen3_omni_moe_thinker,
    "qwen3_vl": qwen.qwen3_vl,
    "qwen3_vl_moe": qwen.qwen3_vl_moe,
    "smolvlm": tiles.smolvlm,
    "video_llama_3": towers.video_llama_3,
    "video_llava": towers.video_llava,
    "vipllava": towers.vipllava,
}
# The families of those whose class leaves something out: a chat template, or an adapter.
FAMILIES = {
    "llava_next (Falcon2-VLM)": "llava_next",
    "paligemma": "paligemma",
    "phi4_multimodal": "phi4_multimodal",
}


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
