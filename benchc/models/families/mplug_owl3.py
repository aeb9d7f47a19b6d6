"""mPLUG-Owl3-7B-240728: remote code of its checkpoint.

The upstream call, of open-compass/VLMEvalKit at 296425e250926ac118380d0fe01c8891bec35927,
vlmeval/vlm/mplug_owl3.py (and the same in X-PLUG/mPLUG-Owl at 0830f64afbc96d3ba95963fdb5efb8760805e9d9,
mPLUG-Owl3/README.md)::

    tokenizer = AutoTokenizer.from_pretrained(model_path)
    model = AutoModel.from_pretrained(model_path, attn_implementation='sdpa', torch_dtype=torch.half,
                                      trust_remote_code=True)
    processor = model.init_processor(tokenizer)
    messages = [{'role': 'user', 'content': '<|image|>' * n + text}, {'role': 'assistant', 'content': ''}]
    # input_ids, media_offset and pixel_values
    inputs = processor(messages, images=images, videos=None, cut_enable=False)
    inputs.update({'tokenizer': tokenizer, ...}); model.generate(**inputs)

``generate`` passes ``forward_image(pixel_values)`` to the language model with ``input_ids`` and
``media_offset``, which is what ``forward`` does. Of the checkpoint's files, processing_mplugowl3.py and
modeling_mplugowl3.py were read in copies without a repository's name. They prepare one conversation, and
the meaning of ``media_offset`` for several was not found, so that variants pass through the model one by
one. VLMEvalKit makes images of over 7,168 pixels smaller; we do not.
"""

from dataclasses import dataclass
from typing import Any

import torch
from PIL import Image

from benchc.hugging_face import transformers
from benchc.models.protocol import CheckpointSource
from benchc.models.remote_code import Batch, RemoteCodeModel, remote_code, require_class, require_parameters

INPUTS = ("input_ids", "media_offset", "pixel_values")


@dataclass
class MPlugOwl3(RemoteCodeModel):
    """A loaded mPLUG-Owl3."""

    words: Any = None
    marker = "<|image|>"
    batches = False

    @property
    def tokenizer(self) -> Any:
        return self.words

    def prompt(self, text: str, images: int) -> str:
        # In its mode for inference, it leaves out the assistant's turn after its opening.
        return "".join(chunk["text"] for chunk in self.processor.build_text_qwen(_messages(text, images)))

    def row(self, text: str, rendered: str, images: list[Image.Image]) -> Batch:
        row = self.processor(
            _messages(text, len(images)), images=images, videos=None, cut_enable=self.settings["cut_enable"]
        )
        return {name: row[name] for name in INPUTS}

    def call(self, batch: Batch, *, last_only: bool) -> torch.Tensor:
        logits: torch.Tensor = self.model(**batch, use_cache=False, return_dict=True).logits
        return logits

    def continued(self, batch: Batch, tokens: Any) -> Batch:
        # The number of images before a position, [1, positions, 2]: after the last, it stays the same.
        offset = batch["media_offset"]
        more = offset[:, -1:].expand(-1, len(tokens), -1)
        return super().continued(batch, tokens) | {"media_offset": torch.cat([offset, more], dim=1)}


def _messages(text: str, images: int) -> list[dict[str, str]]:
    # New ones for each call: the processor may write into them.
    return [{"role": "user", "content": "<|image|>" * images + text}, {"role": "assistant", "content": ""}]


def load(source: CheckpointSource) -> MPlugOwl3:
    """Load a checkpoint of the family."""
    with remote_code(source) as found:
        settings = found.settings(cut_enable=False)
        words = transformers.AutoTokenizer.from_pretrained(source.location, **found.options)
        model = found.model("AutoModel", attn_implementation="sdpa")
        require_class(source.location, model, "mPLUGOwl3Model")
        processor = model.init_processor(words)
        require_parameters(source.location, processor.__call__, "messages", "images", "videos", "cut_enable")
        return MPlugOwl3.of(found, model, processor, settings=settings, words=words)
