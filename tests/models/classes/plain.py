"""What transformers alone makes of a checkpoint: the oracle. It calls no code that is tested."""

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from safetensors.torch import load_file
from tokenizers.processors import ByteLevel, TemplateProcessing

from benchc.hugging_face import transformers
from benchc.pixels import Pixels
from tests.models.classes.templateless import BACKENDS, TEMPLATES

# Prompts of checkpoints without a chat template, as their authors write them: the model card of Falcon2-VLM,
# and the documentation of PaliGemma, whose processor adds a BOS token and a line break.
WRITTEN: dict[str, Callable[[str, int], str]] = {
    "llava_next (Falcon2-VLM)": lambda text, images: "User:" + "<image>\n" * images + f"{text} Falcon:",
    "paligemma": lambda text, images: "<image>" * images + text,
}
# Their processors end a prompt with PaliGemma's line break, Chameleon's end of a turn, and Fuyu's <0x04>,
# which follows an image alone.
DIRECTLY_FOLLOWED = ("PaliGemma", "Chameleon", "Fuyu")
# Those of the documentation of transformers, where that Auto class does not load the model type, or all
# that speaks, too.
CLASSES = {
    "phi4_multimodal": "AutoModelForMultimodalLM",
    "qwen2_5_omni": "Qwen2_5OmniThinkerForConditionalGeneration",
    "qwen3_omni_moe": "Qwen3OmniMoeThinkerForConditionalGeneration",
}


@dataclass(frozen=True)
class Plain:
    """A model and its processor, asked about one item at a time. ``written``: the prompt without template."""

    model: Any
    processor: Any
    written: Callable[[str, int], str] | None

    def inputs(self, text: str, images: Sequence[Pixels]) -> Any:
        """Return the model's input for one user message."""
        pictures = [Image.fromarray(pixels) for pixels in images]
        if self.written is not None:
            prompt = self.written(text, len(images))
            found = self.processor(text=prompt, images=pictures or None, return_tensors="pt")
            return found.to(self.model.dtype)
        content = [{"type": "image", "image": picture} for picture in pictures]
        found = self.processor.apply_chat_template(
            [{"role": "user", "content": [*content, {"type": "text", "text": text}]}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
        # Some image processors give bfloat16, as Llama 4 is published.
        return found.to(self.model.dtype)

    def tokens(self, answer: str, images: int = 1) -> list[int]:
        """Return the tokens of an answer, which follows a space, or what ``DIRECTLY_FOLLOWED`` end with."""
        name = type(self.model).__name__
        ends = name.startswith(DIRECTLY_FOLLOWED) and (images > 0 or not name.startswith("Fuyu"))
        space = "" if ends else " "
        return list(self.processor.tokenizer(space + answer, add_special_tokens=False)["input_ids"])

    def first_logits(self, text: str, images: Sequence[Pixels]) -> torch.Tensor:
        """Return the logits [vocabulary] of the first step of an answer."""
        return self._steps(text, images, 1)[0]

    def log_likelihood(self, text: str, images: Sequence[Pixels], answer: str) -> float:
        """Return that of an answer's tokens, by a generation that is allowed no others."""
        tokens = self.tokens(answer, len(images))
        before = self.inputs(text, images)["input_ids"].shape[1]
        steps = self._steps(
            text,
            images,
            len(tokens),
            eos_token_id=None,
            prefix_allowed_tokens_fn=lambda _, ids: [tokens[len(ids) - before]],
        )
        return sum(logits.log_softmax(-1)[token].item() for logits, token in zip(steps, tokens, strict=True))

    def answer(self, text: str, images: Sequence[Pixels], most: int) -> tuple[str, int]:
        """Return the greedy answer, and how many tokens it has."""
        inputs = self.inputs(text, images)
        tokens = self.model.generate(**inputs, max_new_tokens=most, do_sample=False)
        added = tokens[0, inputs["input_ids"].shape[1] :]
        return self.processor.decode(added, skip_special_tokens=True).strip(), len(added)

    def with_bos(self, *, by_template: bool, by_tokenizer: bool) -> "Plain":
        """Return the model with a BOS token that is written by some of both."""
        processor = with_bos(self.processor, by_template=by_template, by_tokenizer=by_tokenizer)
        return replace(self, processor=processor)

    def _steps(self, text: str, images: Sequence[Pixels], count: int, **options: Any) -> list[torch.Tensor]:
        # Janus' own method ignores what restricts the tokens; those of BLIP-2 and KOSMOS-2 read the images.
        janus = type(self.model).__name__.startswith("Janus")
        generate = (transformers.GenerationMixin if janus else type(self.model)).generate
        found = generate(
            self.model,
            **self.inputs(text, images),
            max_new_tokens=count,
            do_sample=False,
            output_logits=True,
            return_dict_in_generate=True,
            **options,
        )
        return [logits[0] for logits in found.logits]


def with_bos(processor: Any, *, by_template: bool, by_tokenizer: bool) -> Any:
    """Return a copy of a processor whose chat template and tokenizer write a BOS token, or do not."""
    found = copy.deepcopy(processor)
    if found.chat_template is not None:
        rest = found.chat_template.removeprefix("{{ bos_token }}")
        found.chat_template = "{{ bos_token }}" + rest if by_template else rest
    bos = found.tokenizer.bos_token
    found.tokenizer.backend_tokenizer.post_processor = (
        TemplateProcessing(single=f"{bos} $A", special_tokens=[(bos, found.tokenizer.bos_token_id)])
        if by_tokenizer
        else ByteLevel(trim_offsets=False)
    )
    return found


def load(folder: Path, model_type: str) -> Plain:
    """Load a saved checkpoint."""
    processor = transformers.AutoProcessor.from_pretrained(folder)
    # That of Phi-4-multimodal does not take the checkpoint's template.
    processor.chat_template = processor.chat_template or processor.tokenizer.chat_template
    processor.chat_template = TEMPLATES.get(model_type, processor.chat_template)
    backend = BACKENDS.get(model_type, "pil")
    processor.image_processor = transformers.AutoImageProcessor.from_pretrained(folder, backend=backend)
    auto_class = CLASSES.get(model_type, "AutoModelForImageTextToText")
    model = getattr(transformers, auto_class).from_pretrained(folder, dtype=torch.float32).eval()
    if model_type == "phi4_multimodal":
        _merge_adapter(model, folder / "vision-lora")
    if model_type == "llava_next (Falcon2-VLM)":
        _complete_falcon(model, processor)
    return Plain(model, processor, WRITTEN.get(model_type))


def _merge_adapter(model: Any, folder: Path) -> None:
    """Add ``lora_alpha / r * B A`` to the weights, as peft's ``merge_and_unload`` does."""
    config = json.loads((folder / "adapter_config.json").read_text())
    weights = load_file(folder / "adapter_model.safetensors")
    for name, first in weights.items():
        if ".lora_A." in name:
            layer = model.get_submodule(name.removeprefix("base_model.model.").split(".lora_A.")[0])
            second = weights[name.replace(".lora_A.", ".lora_B.")]
            layer.weight.data += config["lora_alpha"] / config["r"] * second @ first


def _complete_falcon(model: Any, processor: Any) -> None:
    """Give Falcon2-VLM what its checkpoint lacks (huggingface/transformers#34728).

    These are the settings of its processor, and rows of the embedding up to the token of an image.
    """
    processor.patch_size = model.config.vision_config.patch_size
    processor.vision_feature_select_strategy, processor.num_additional_image_tokens = "default", 1
    embedding = model.get_input_embeddings()
    absent = model.config.image_token_id + 1 - embedding.num_embeddings
    if absent > 0:
        rows = torch.cat([embedding.weight.data, torch.zeros(absent, embedding.embedding_dim)])
        embedding.weight, embedding.num_embeddings = torch.nn.Parameter(rows), len(rows)
