"""DeepSeek-VL2-Small: the package ``deepseek_vl2`` of deepseek-ai/DeepSeek-VL2.

The upstream call, of open-compass/VLMEvalKit at 120177798d7cfa354f76ad68b3de5f5ac126e738,
vlmeval/vlm/deepseek_vl2.py, and deepseek-ai/DeepSeek-VL2 at fa99a324712b5b003c15d27fbbb72e91d7a0c150,
inference.py::

    conversation = [{'role': '<|User|>', 'content': '<image>\\n' * n + text, 'images': [...]},
                    {'role': '<|Assistant|>', 'content': ''}]
    prepare_inputs = vl_chat_processor(conversations=conversation, images=pil_images,
                                       force_batchify=True, system_prompt="").to(device, dtype=dtype)
    inputs_embeds = vl_gpt.prepare_inputs_embeds(**prepare_inputs)
    vl_gpt.generate(inputs_embeds=..., input_ids=..., attention_mask=..., images=..., images_seq_mask=...,
                    images_spatial_crop=..., ...)

``forward`` takes ``input_ids``, ``attention_mask``, ``images``, ``images_seq_mask`` and
``images_spatial_crop``, and calls ``prepare_inputs_embeds`` itself
(deepseek_vl2/models/modeling_deepseek_vl_v2.py; the processor is
deepseek_vl2/models/processing_deepseek_vl_v2.py, read in the copy sheryc/DeepSeek-VL2-Latest at
d3a78dd7064d37671d42a48eb05a5f6bd3bb0147).
The processor's ``format_messages_v2`` encodes the prompt, which ends in "<|Assistant|>:", and an answer apart
and without white space: the first token of an answer is "B", not " B".

There is no environment for it: the package requires attrdict, which Python 3.10 and later cannot import,
with torch 2.2.1 and transformers 4.38.2 (pyproject.toml at d4058635d8d1847953d925bece124e3a44bd8cbf), and
benchc needs Python 3.11. vLLM serves the model.
"""

from typing import Any

import torch
from PIL import Image

from benchc.models.protocol import CheckpointSource
from benchc.models.remote_code import (
    Batch,
    RemoteCodeModel,
    package,
    package_code,
    package_digest,
    require_class,
    require_parameters,
)

INSTALL = (
    "serve the model instead (docs/models.md), or install deepseek-ai/DeepSeek-VL2 without its dependencies, "
    "and attrdict3 in place of attrdict"
)
INPUTS = ("input_ids", "attention_mask", "images", "images_seq_mask", "images_spatial_crop")


class DeepSeekVL2(RemoteCodeModel):
    """A loaded DeepSeek-VL2."""

    def language_head(self) -> Any:
        return self.model.language.get_output_embeddings()

    def prompt(self, text: str, images: int) -> str:
        rendered: str = self.processor.format_messages(
            conversations=_conversation(text, images), sft_format=self.processor.sft_format, system_prompt=""
        )
        return rendered

    def separator(self, rendered: str) -> str:
        return ""

    def tokens_after(self, rendered: str, answer: str) -> list[int]:
        return list(self.tokenizer.encode(answer.strip(), add_special_tokens=False))

    def row(self, text: str, rendered: str, images: list[Image.Image]) -> Batch:
        row = self.processor(
            conversations=_conversation(text, len(images)),
            images=images,
            force_batchify=True,
            system_prompt="",
        )
        return {name: getattr(row, name) for name in INPUTS}

    def continued(self, batch: Batch, tokens: Any) -> Batch:
        mask = batch["images_seq_mask"]
        more = mask.new_zeros(len(mask), len(tokens))
        return super().continued(batch, tokens) | {"images_seq_mask": torch.cat([mask, more], dim=1)}


def _conversation(text: str, images: int) -> list[dict[str, str]]:
    return [
        {"role": "<|User|>", "content": "<image>\n" * images + text},
        {"role": "<|Assistant|>", "content": ""},
    ]


def load(source: CheckpointSource) -> DeepSeekVL2:
    """Load a checkpoint of the family."""
    with package_code(source) as found:
        settings = found.settings()
        # Its import registers the classes with transformers.
        models = package("deepseek_vl2.models", INSTALL, source.location)
        processor = models.DeepseekVLV2Processor.from_pretrained(found.folder())
        model = found.model("AutoModelForCausalLM")
        require_class(source.location, model, "DeepseekVLV2ForCausalLM")
        require_parameters(source.location, model.forward, *INPUTS, "use_cache", "return_dict")
        digest = package_digest(package("deepseek_vl2", INSTALL, source.location))
        return DeepSeekVL2.of(found, model, processor, settings=settings, digest=digest)
