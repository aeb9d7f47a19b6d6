"""Kimi-VL-A3B-Instruct: remote code of its checkpoint.

The upstream call, of MoonshotAI/Kimi-VL at 2e1cd0ac0f55a9ca4b2e68b28ed013ce8449ea4c, README.md (and the
same in open-compass/VLMEvalKit at 39ee0908d62f0c576bc69fa8a7108317b82cd425, vlmeval/vlm/kimi_vl.py)::

    text = processor.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt")
    inputs = processor(images=images, text=text, return_tensors="pt", padding=True, truncation=True)
    generated_ids = model.generate(**inputs, max_new_tokens=512)

``truncation`` is left out: it would cut a long prompt without a word. The processor returns
``input_ids``, ``attention_mask``, ``pixel_values`` and ``image_grid_hws``, which ``forward`` takes.
Public copies of the checkpoint's processing_kimi_vl.py (in vLLM) and modeling_kimi_vl.py (a port to
MindSpore) agree; the torch file itself was not read.
"""

from typing import Any

from PIL import Image

from benchc.hugging_face import transformers
from benchc.models.chat_template import apply_template
from benchc.models.protocol import CheckpointSource
from benchc.models.remote_code import Batch, RemoteCodeModel, remote_code, require_class, require_parameters

INPUTS = ("input_ids", "attention_mask", "pixel_values", "image_grid_hws")


class KimiVL(RemoteCodeModel):
    """A loaded Kimi-VL."""

    marker = "<|media_pad|>"

    def prompt(self, text: str, images: int) -> str:
        content: list[dict[str, Any]] = [{"type": "image", "image": ""}] * images
        messages = [{"role": "user", "content": [*content, {"type": "text", "text": text}]}]
        return apply_template(self.name, self.processor, messages, add_generation_prompt=True)

    def row(self, text: str, rendered: str, images: list[Image.Image]) -> Batch:
        # A list of its own: the processor writes into it.
        row = self.processor(images=images, text=[rendered], return_tensors="pt", padding=True)
        return {name: row[name] for name in INPUTS}


def load(source: CheckpointSource) -> KimiVL:
    """Load a checkpoint of the family."""
    with remote_code(source) as found:
        settings = found.settings()
        processor = transformers.AutoProcessor.from_pretrained(source.location, **found.options)
        model = found.model("AutoModelForCausalLM")
        require_class(source.location, model, "KimiVLForConditionalGeneration")
        require_parameters(source.location, model.forward, *INPUTS, "use_cache", "return_dict")
        return KimiVL.of(found, model, processor, settings=settings)
