"""Molmo-7B-D-0924: remote code of its checkpoint.

The upstream call, of open-compass/VLMEvalKit at 0e180883aa97b78bcf64e19f875f8066517c89e3,
vlmeval/vlm/molmo.py::

    inputs = self.processor.process(images=[image], text=prompt)
    inputs = {k: v.to(self.model.device).unsqueeze(0) for k, v in inputs.items()}
    output = self.model.generate_from_batch(inputs, GenerationConfig(max_new_tokens=200, ...), tokenizer=...)

``process`` takes ``message_format``, ``always_start_with_space`` and the settings of images, and puts the
images first (preprocessing_molmo.py in reubzdubz/Molmo7B_D_NF4Quant at
edf464b955f389104b80bd57a9ecf52ce5530552, a copy of the checkpoint's). The first step of
``generate_from_batch`` calls ``forward`` with ``input_ids``, ``images``, ``image_masks``,
``image_input_idx`` and ``last_logits_only`` (modeling_molmo.py there); without a mask, ``forward`` makes
mask and positions itself. VLMEvalKit gives it one image; so do we.
"""

import torch
from PIL import Image

from benchc.hugging_face import transformers
from benchc.models.protocol import CheckpointSource
from benchc.models.remote_code import Batch, RemoteCodeModel, remote_code, require_class, require_parameters

INPUTS = ("input_ids", "images", "image_masks", "image_input_idx")


class Molmo(RemoteCodeModel):
    """A loaded Molmo."""

    all_images = False
    marker = "<|image|>"
    marks_images = False

    def prompt(self, text: str, images: int) -> str:
        # What `message_format="role"` and `always_start_with_space=True`, the defaults, make of the text.
        return f" User: {text} Assistant:"

    def row(self, text: str, rendered: str, images: list[Image.Image]) -> Batch:
        row = self.processor.process(
            text=rendered,
            images=images,
            message_format="none",
            always_start_with_space=False,
            **{name: value for name, value in self.settings.items() if value is not None},
        )
        return {name: row[name].unsqueeze(0) for name in INPUTS}

    def call(self, batch: Batch, *, last_only: bool) -> torch.Tensor:
        logits: torch.Tensor = self.model(**batch, use_cache=False, last_logits_only=last_only).logits
        return logits


def load(source: CheckpointSource) -> Molmo:
    """Load a checkpoint of the family."""
    with remote_code(source) as found:
        # The processor's default is 12 crops; VLMEvalKit's entry for the 7B models sets 36.
        settings = found.settings(max_crops=None)
        processor = transformers.AutoProcessor.from_pretrained(source.location, **found.options)
        model = found.model("AutoModelForCausalLM")
        require_class(source.location, model, "MolmoForCausalLM")
        require_parameters(source.location, model.forward, *INPUTS, "use_cache", "last_logits_only")
        require_parameters(source.location, processor.process, "text", "images")
        return Molmo.of(found, model, processor, settings=settings)
